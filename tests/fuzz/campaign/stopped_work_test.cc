// Work that is asked to end does, wherever it is: at each poll of a sweep, what it does after it is
// bounded, nothing breaks, and what it leaves of a minimization still fails.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/reference/float64_execution.h"
#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/plan/planner.h"
#include "encoder/program/stop.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/replay.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/report/check.h"
#include "simulator/report/report.h"
#include "simulator/schedules/explore.h"
#include "simulator/schedules/strategy.h"
#include "tests/corpus_files.h"
#include "tests/dense_program.h"
#include "tests/program_count.h"

namespace interlock::stopped_work_test {
namespace {

// Loops within loops each ask once more on the way out.
constexpr uint64_t kPollsAfterMax = 100;

struct Work {
  std::string name;
  std::function<void(const Program&)> run;
};

std::vector<Work> works() {
  std::vector<Work> all = {
      {"parse", [](const Program& program) { parse(print(program)).has_value(); }},
      {"check", [](const Program& program) { check(program); }},
      {"check --all",
       [](const Program& program) {
         CheckOptions options;
         options.lists_all_pairs = true;
         check(program, options);
       }},
      {"run",
       [](const Program& program) {
         reference_image(program, *find_backend("cpu")).has_value();
         replay(program, *find_backend("cpu")).has_value();
       }},
      {"float64", [](const Program& program) { execute_in_float64(program, 1 << 20).has_value(); }},
      {"gradients", [](const Program& program) { find_wrong_gradients(program); }},
      {"minimize", [](const Program& program) { minimize_program(program).has_value(); }},
      {"minimize from a slice",
       [](const Program& program) {
         MinimizeOptions options;
         options.whole_steps_max = 0;
         minimize_program(program, options).has_value();
       }},
      {"oracles", [](const Program& program) { judge(program, {}, 0); }},
  };
  for (const StrategyEntry& entry : strategy_registry()) {
    all.push_back({"explore " + std::string(entry.name),
                   [&entry](const Program& program) { explore(program, entry, {50}); }});
  }
  for (const EncoderEntry& entry : encoder_registry()) {
    all.push_back({"encode " + std::string(entry.name),
                   [&entry](const Program& program) { encode_with(program, &entry); }});
  }
  for (const PlannerEntry& entry : planner_registry()) {
    all.push_back({"plan " + std::string(entry.name), [&entry](const Program& program) {
                     entry.plan(program, PlanOptions{}).has_value();
                   }});
  }
  return all;
}

// Runs the work with a stop at that poll. Returns how many polls it made.
uint64_t polls_of(const Work& work, const Program& program, uint64_t stop_at) {
  Stop stop;
  stop.request_at_poll(stop_at);
  const StopScope scope(&stop);
  work.run(program);
  return stop.poll_count();
}

TEST(StoppedWork, EndsSoonWhereverItIs) {
  const auto paths = one_queue_corpus_files({"bugs", "seeds", "regressions"});
  const std::vector<Work> all = works();
  // Each program with each work, over the runs of the test: a few pairs are enough for a loop that
  // every program has, and the whole sweep is for `./dev prove`.
  const int period = proof_count(1, 12, 4) == 1 ? 1 : 12 * (is_slow_build() ? 10 : 1);
  int count = 0;
  for (size_t p = 0; p < paths.size(); ++p) {
    const Program program = corpus_program(paths[p]);
    for (size_t w = 0; w < all.size(); ++w) {
      if ((p * all.size() + w) % static_cast<size_t>(period) != 0) continue;
      const uint64_t poll_count = polls_of(all[w], program, UINT64_MAX);
      for (uint64_t at = 1; at <= poll_count; at += 1 + at / 4, ++count) {
        ASSERT_LE(polls_of(all[w], program, at), at + kPollsAfterMax)
            << all[w].name << " " << paths[p] << ", stopped at poll " << at;
      }
    }
  }
  if (period == 1) print_proof(count, "a stop at any poll ends any work within 100 polls");
}

class StoppedMinimization : public testing::TestWithParam<uint64_t> {};

// What is left is the smallest program that was accepted, it builds and it still fails; no
// evaluation begins once the stop is there.
TEST_P(StoppedMinimization, LeavesAProgramThatStillFails) {
  const Program program = dense_program(16, 40);
  Stop stop;
  stop.request_at_poll(GetParam());
  MinimizeOptions options;
  options.stop = &stop;
  // So much must stay that there is much to try.
  const size_t finding_count = find_exactly(program).size() / 2;
  uint64_t evaluations_after = 0;
  Program smallest = program;
  const auto keeps = [&](const Program& p) {
    evaluations_after += stop.is_requested();
    const bool fails = find_exactly(p).size() >= finding_count;
    const bool is_believed = fails && !stop.is_requested();
    if (is_believed) smallest = p;
    return fails;
  };
  const MinimizeReport report = minimize(draft_of(program), keeps, options);
  EXPECT_FALSE(report.is_fixpoint);
  EXPECT_EQ(evaluations_after, 0u);
  EXPECT_LE(stop.poll_count(), GetParam() + kPollsAfterMax);
  EXPECT_EQ(print(report.program), print(smallest));
  EXPECT_GE(find_exactly(report.program).size(), finding_count);
}

INSTANTIATE_TEST_SUITE_P(AtPoll, StoppedMinimization, testing::Values(1, 100, 10'000));

// As `interlock minimize` does it: of the finding that the whole run would keep.
TEST(StoppedWork, LeavesOfAMinimizationAProgramOfTheSameKind) {
  const Program program = dense_program(4, 4);
  const auto whole = minimize_program(program);
  ASSERT_TRUE(whole);
  const FindingKind kind = kind_of(find_exactly(whole->program).front());
  Stop counted;
  counted.request_at_poll(UINT64_MAX);
  {
    const StopScope scope(&counted);
    ASSERT_TRUE(minimize_program(program));
  }
  int count = 0;
  for (uint64_t at = 1; at < counted.poll_count(); at += 1 + at / 8) {
    Stop stop;
    stop.request_at_poll(at);
    const StopScope scope(&stop);
    const auto report = minimize_program(program);
    EXPECT_LE(stop.poll_count(), at + kPollsAfterMax);
    if (!report) {
      EXPECT_THAT(report.error().message, testing::HasSubstr("The work was stopped before"));
      continue;
    }
    const StopScope to_the_end(nullptr);
    ++count;
    EXPECT_FALSE(report->is_fixpoint) << at;
    const std::vector<Fact> facts = find_exactly(report->program);
    EXPECT_TRUE(std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
      return kind_of(fact) == kind;
    })) << at;
  }
  EXPECT_GT(count, 10);
}

TEST(StoppedWork, LeavesOfACampaignWhatItFoundBefore) {
  CampaignOptions options;
  options.encoder = find_encoder("none");
  options.run_count = 40;
  options.keeps_all_signatures = true;
  Stop counted;
  counted.request_at_poll(UINT64_MAX);
  options.stop = &counted;
  const auto whole = run_campaign(options);
  ASSERT_TRUE(whole);
  ASSERT_GT(whole->finds.size(), 3u);
  for (uint64_t at = 1; at < counted.poll_count(); at = at * (is_slow_build() ? 12 : 3) + 1) {
    Stop stop;
    stop.request_at_poll(at);
    options.stop = &stop;
    const auto report = run_campaign(options);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->was_stopped);
    EXPECT_THAT(report->disagreements, testing::IsEmpty());
    ASSERT_LE(report->finds.size(), whole->finds.size());
    for (const CampaignFind& find : report->finds) {
      EXPECT_THAT(find_exactly(find.program), testing::Not(testing::IsEmpty())) << at;
    }
  }
}

}  // namespace
}  // namespace interlock::stopped_work_test
