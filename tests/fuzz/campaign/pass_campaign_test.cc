// Campaigns against planners, backward passes and replay policies: each broken one is found from
// nothing, shrunk to what its bug needs, and kept with what shows it; a right one never fails.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "backends/registry.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/pass_oracle.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "tests/program_count.h"

namespace interlock::pass_campaign_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const uint64_t kSeedCount = static_cast<uint64_t>(proof_count(5, 2, 2));

CampaignOptions campaign_of(std::string_view planner, uint64_t seed, uint64_t run_count) {
  CampaignOptions options;
  options.planner = find_planner(planner);
  EXPECT_NE(options.planner, nullptr);
  options.seed = seed;
  options.run_count = run_count;
  return options;
}

CampaignReport reported(const CampaignOptions& options) {
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << report.error().message;
  for (const std::string& disagreement : report->disagreements) ADD_FAILURE() << disagreement;
  return std::move(report).value();
}

// What the file of a find holds must be found again, and nothing else.
void expect_as_expected(const CampaignFind& find) {
  const auto program = parse(find.text);
  ASSERT_TRUE(program) << program.error().message << "\n" << find.text;
  const CheckReport report = check(*program);
  EXPECT_FALSE(report.findings.empty());
  EXPECT_TRUE(is_as_expected(*program, report, judge_expectations(*program, report))) << find.text;
}

const CampaignFind* find_of(const CampaignReport& report, std::string_view signature) {
  for (const CampaignFind& find : report.finds) {
    if (find.signature == signature) return &find;
  }
  return nullptr;
}

// At least ten times the median over 20 seeds (docs/fuzzing-passes.md), and more than three times
// the slowest of them.
struct Budget {
  const char* planner;
  uint64_t program_count;
};
void PrintTo(const Budget& budget, std::ostream* stream) { *stream << budget.planner; }
constexpr Budget kBudgets[] = {
    {"ggml", 1500}, {"ggml-undercount", 200}, {"ggml-serial-liveness", 50}, {"ztensor-167", 80}};

class BrokenPlanner : public testing::TestWithParam<std::tuple<Budget, uint64_t>> {};

TEST_P(BrokenPlanner, IsFoundFromNothing) {
  const auto& [budget, seed] = GetParam();
  CampaignOptions options = campaign_of(budget.planner, seed, budget.program_count);
  options.find_limit = 1;
  const CampaignReport report = reported(options);
  ASSERT_THAT(report.finds, SizeIs(1));
  EXPECT_LE(report.finds[0].program.dispatches.size(), 5u) << report.finds[0].text;
  expect_as_expected(report.finds[0]);
}

INSTANTIATE_TEST_SUITE_P(Planners, BrokenPlanner,
                         testing::Combine(testing::ValuesIn(kBudgets),
                                          testing::Range<uint64_t>(1, kSeedCount + 1)));

TEST(PassCampaign, KnowsEveryBrokenPlanner) {
  for (const PlannerEntry& planner : planner_registry()) {
    const bool has_budget =
        std::any_of(std::begin(kBudgets), std::end(kBudgets),
                    [&](const Budget& budget) { return planner.name == budget.planner; });
    // Those of several queues are right on one.
    EXPECT_EQ(has_budget, planner.is_broken && !planner.takes_queues) << planner.name;
  }
}

TEST(PassCampaign, FindsNothingInRightPlanners) {
  for (const PlannerEntry& planner : planner_registry()) {
    if (planner.is_broken) continue;
    const CampaignReport report =
        reported(campaign_of(planner.name, 7, static_cast<uint64_t>(proof_count(1'000, 400, 16))));
    EXPECT_THAT(report.finds, IsEmpty()) << planner.name << report.finds[0].text;
  }
}

// One VJP that streams, in place, and nothing else.
TEST(PassCampaign, ShrinksGgml1501ToOneVjpInPlace) {
  for (uint64_t seed = 1; seed <= kSeedCount; ++seed) {
    CampaignOptions options = campaign_of("ggml", seed, 1500);
    options.find_limit = 1;
    const CampaignReport report = reported(options);
    ASSERT_THAT(report.finds, SizeIs(1)) << seed;
    const CampaignFind& find = report.finds[0];
    ASSERT_THAT(find.program.dispatches, SizeIs(1)) << find.text;
    EXPECT_THAT(find.text, AnyOf(HasSubstr("d0: dispatch softmax_vjp_stream reads t"),
                                 HasSubstr("d0: dispatch rms_norm_vjp_stream reads t")));
    EXPECT_THAT(find.text, HasSubstr("expect alias d0\n"));
    EXPECT_THAT(find.text, HasSubstr(" differ from those of the planner fresh.\n"));
  }
}

// A find that no output shows waits for an instance that one shows, but no longer than the limit of
// finds lets a campaign run.
TEST(PassCampaign, EndsAtItsLimitOfFindsThoughNoOutputShowsThem) {
  if (is_slow_build()) GTEST_SKIP() << "A thousand programs must be tried.";
  CampaignOptions options = campaign_of("ggml", 10, 5000);
  options.find_limit = 1;
  const CampaignReport report = reported(options);
  ASSERT_THAT(report.finds, SizeIs(1));
  EXPECT_FALSE(report.finds[0].is_observable);
  EXPECT_EQ(report.run_count, 5 * 256u);  // 1024 runs and the rest of a block.
}

// One saved tensor, one reset, and the write that takes its bytes.
TEST(PassCampaign, ShrinksZtensor167ToOneSavedTensorOneResetAndOneWrite) {
  for (uint64_t seed = 1; seed <= kSeedCount; ++seed) {
    CampaignOptions options = campaign_of("ztensor-167", seed, 300);
    options.keeps_all_signatures = true;
    const CampaignReport report = reported(options);
    const CampaignFind* const find = find_of(report, "clobber-reset");
    ASSERT_NE(find, nullptr) << seed;
    const std::string text = print(find->program);
    EXPECT_THAT(text, HasSubstr("d0: dispatch Opaque writes t0\n"
                                "barrier\n"
                                "reset arena\n"
                                "d1: dispatch Opaque writes t1\n"
                                "barrier\n"
                                "d2: dispatch Opaque reads t0 writes t2\n"
                                "expect clobber d1 d2\n"));
    EXPECT_THAT(find->text, HasSubstr("# clobber-reset by planner ztensor-167, minimized from "));
    EXPECT_THAT(find->text, HasSubstr(" values of t2 differ from those of the planner fresh.\n"));
  }
}

// The sync came first, and what it lets overlap shares bytes.
TEST(PassCampaign, ShowsAScheduleForReuseThatNoSyncOrders) {
  CampaignOptions options = campaign_of("ggml-serial-liveness", 1, 100);
  const CampaignReport report = reported(options);
  const CampaignFind* const find = find_of(report, "WAR-slot_reuse");
  ASSERT_NE(find, nullptr);
  EXPECT_EQ(find->program.dispatches.size(), 2u);
  EXPECT_THAT(find->program.barriers, IsEmpty());
  EXPECT_THAT(find->program.witness, Not(IsEmpty()));
  const auto again = replay(find->program, *find_backend("cpu"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->diverges);
}

TEST(PassCampaign, MakesTheSameFindsForAnyNumberOfJobs) {
  CampaignOptions options = campaign_of("ggml-undercount", 3, 100);
  const CampaignReport one = reported(options);
  options.job_count = 2;
  const CampaignReport two = reported(options);
  ASSERT_EQ(one.finds.size(), two.finds.size());
  ASSERT_THAT(one.finds, Not(IsEmpty()));
  for (size_t i = 0; i < one.finds.size(); ++i) EXPECT_EQ(one.finds[i].text, two.finds[i].text);
}

TEST(PassCampaign, ReproducesAFindFromItsRunAlone) {
  CampaignOptions options = campaign_of("ztensor-167", 4, is_slow_build() ? 20 : 50);
  const CampaignReport report = reported(options);
  ASSERT_THAT(report.finds, Not(IsEmpty()));
  const CampaignFind& first = report.finds.front();
  EXPECT_THAT(first.text, HasSubstr("interlock fuzz --planner=ztensor-167 --seed=4 --first-run="));
  options.first_run = first.run_index;
  options.run_count = 1;
  const CampaignFind* const again = find_of(reported(options), first.signature);
  ASSERT_NE(again, nullptr);
}

// A broken encoder after a right planner is found, too.
TEST(PassCampaign, JudgesTheEncoderBehindThePlan) {
  CampaignOptions options = campaign_of("liveness", 1, 50);
  options.encoder = find_encoder("none");
  const CampaignReport report = reported(options);
  ASSERT_THAT(report.finds, Not(IsEmpty()));
  EXPECT_THAT(report.finds[0].text, HasSubstr(" by planner liveness and encoder none, minimized"));
}

CampaignOptions backward_campaign_of(std::string_view backward, uint64_t seed, uint64_t run_count) {
  CampaignOptions options;
  options.backward = find_backward(backward);
  EXPECT_NE(options.backward, nullptr);
  options.seed = seed;
  options.run_count = run_count;
  return options;
}

// x @ w @ w and nothing else. The odds are as for the budgets above.
TEST(PassCampaign, ShrinksPytorch180952ToTwoProductsWithOneWeight) {
  for (uint64_t seed = 1; seed <= kSeedCount; ++seed) {
    CampaignOptions options = backward_campaign_of("split-pytorch-180952", seed, 300);
    options.keeps_all_signatures = true;
    const CampaignReport report = reported(options);
    int product_count = 0;
    for (const CampaignFind& find : report.finds) {
      if (!find.signature.starts_with("gradient-matmul")) continue;
      ++product_count;
      EXPECT_EQ(find.dispatch_count, 2u) << find.text;
      EXPECT_GE(find.original_dispatch_count, 2u);
      EXPECT_THAT(find.text, HasSubstr(fmt::format("minimized from {} to 2 dispatches.\n",
                                                   find.original_dispatch_count)));
      ASSERT_EQ(find.program.backwards.size(), 1u) << find.text;
      const std::string text = print(draft_of(find.program));
      for (const char* line : {"d0: dispatch matmul_", "d1: dispatch matmul_",
                               " mode=split-pytorch-180952\n", "expect gradient "}) {
        EXPECT_THAT(text, HasSubstr(line));
      }
    }
    EXPECT_GT(product_count, 0) << seed;
  }
}

// Runs of which a third product stood between the two that share a weight.
TEST(PassCampaign, LeavesOutTheProductBetweenTwoWithOneWeight) {
  for (const auto& [seed, run] : {std::pair(uint64_t{1}, uint64_t{50}), {4, 153}}) {
    CampaignOptions options = backward_campaign_of("split-pytorch-180952", seed, 1);
    options.first_run = run;
    const CampaignReport report = reported(options);
    const CampaignFind* const find = find_of(report, "gradient-matmul_nn");
    ASSERT_NE(find, nullptr) << seed;
    EXPECT_EQ(find->dispatch_count, 2u) << find->text;
  }
}

// Before and after are the dispatches in front of the pass.
TEST(PassCampaign, CountsForwardDispatchesAlone) {
  const CampaignReport report = reported(backward_campaign_of("split-pytorch-180952", 1, 60));
  EXPECT_THAT(report.finds, Not(IsEmpty()));
  for (const CampaignFind& find : report.finds) {
    EXPECT_LE(find.dispatch_count, find.original_dispatch_count) << find.text;
    EXPECT_LT(find.dispatch_count, find.program.dispatches.size()) << find.text;
  }
}

TEST(PassCampaign, FindsNothingInRightBackwardPasses) {
  for (const BackwardEntry& backward : backward_registry()) {
    if (backward.is_broken) continue;
    const CampaignReport report =
        reported(backward_campaign_of(backward.name, 7, static_cast<uint64_t>(program_count(500))));
    EXPECT_THAT(report.finds, IsEmpty()) << backward.name << report.finds[0].text;
  }
}

CampaignOptions replay_campaign_of(std::string_view replay, uint64_t seed, uint64_t run_count) {
  CampaignOptions options;
  options.replay = find_replay(replay);
  EXPECT_NE(options.replay, nullptr);
  options.seed = seed;
  options.run_count = run_count;
  return options;
}

// Two replays, and the accumulation that reads what the second has overwritten.
TEST(PassCampaign, ShrinksPytorch181723ToTwoReplaysAndOneAccumulate) {
  for (uint64_t seed = 1; seed <= kSeedCount; ++seed) {
    CampaignOptions options = replay_campaign_of("pytorch-181723", seed, 50);
    options.keeps_all_signatures = true;
    const CampaignReport report = reported(options);
    const CampaignFind* const find = find_of(report, "clobber-replay-accumulate");
    ASSERT_NE(find, nullptr) << seed;
    const std::string text = print(find->program);
    EXPECT_EQ(find->program.replays.size(), 2u) << text;
    EXPECT_EQ(find->program.dispatches.size(), 3u) << text;
    EXPECT_THAT(text, HasSubstr("adopt "));
    EXPECT_THAT(text, HasSubstr(": dispatch accumulate reads "));
    expect_as_expected(*find);
  }
}

TEST(PassCampaign, FindsNothingInRightReplayPolicies) {
  for (const ReplayEntry& replay : replay_registry()) {
    if (replay.is_broken) continue;
    const CampaignReport report = reported(
        replay_campaign_of(replay.name, 7, static_cast<uint64_t>(proof_count(1'000, 400, 16))));
    EXPECT_THAT(report.finds, IsEmpty()) << replay.name << report.finds[0].text;
  }
}

TEST(PassCampaign, PutsOnePassBehindAnother) {
  CampaignOptions options = backward_campaign_of("split", 1, 200);
  options.planner = find_planner("ggml-undercount");
  options.find_limit = 1;
  const CampaignReport report = reported(options);
  ASSERT_THAT(report.finds, Not(IsEmpty()));
  EXPECT_THAT(report.finds[0].text,
              HasSubstr(" by backward pass split and planner ggml-undercount"));
  expect_as_expected(report.finds[0]);
}

// Whatever is wrong before any pass is no pass's fault.
TEST(JudgePasses, BlamesTheProgramForWhatTheReferenceLeaves) {
  const Program program = *parse(
      "interlock 1\ntensor x f32[4]\ntensor y f32[4]\noutput y\ndispatch K reads x writes y\n");
  PassChain chain;
  chain.planner = find_planner("liveness");
  const PassReport report = judge_passes(chain, program, plan_options_of_campaign(), {}, 0);
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_EQ(report.disagreements[0].message,
            "The reference passes leave a finding, uninitialized.");
}

}  // namespace
}  // namespace interlock::pass_campaign_test
