// Campaigns against planners on several queues: the pool that is told of one queue alone is found,
// its find is small and replays, and planners that keep to the sync leave nothing to find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/replay.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "tests/program_count.h"

namespace interlock::queue_planner_campaign_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CampaignOptions options_of(std::string_view planner, uint64_t seed, uint64_t run_count) {
  CampaignOptions options;
  options.planner = find_planner(planner);
  EXPECT_NE(options.planner, nullptr) << planner;
  options.generator.has_queues = true;
  options.seed = seed;
  options.run_count = run_count;
  return options;
}

CampaignReport reported(const CampaignOptions& options) {
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (!report) return {};
  EXPECT_THAT(report->disagreements, IsEmpty());
  return std::move(report).value();
}

void expect_shown(const CampaignFind& find) {
  ParseOptions options;
  options.reads_every_queue = true;
  const auto program = parse(find.text, "find.ilk", options);
  ASSERT_TRUE(program) << program.error().message << "\n" << find.text;
  const CheckReport report = check(*program);
  EXPECT_FALSE(report.findings.empty());
  EXPECT_TRUE(is_as_expected(*program, report, judge_expectations(*program, report))) << find.text;
  EXPECT_TRUE(find.is_observable) << find.text;
  const auto again = replay(*program, *find_backend("cpu"));
  ASSERT_TRUE(again) << again.error().message << "\n" << find.text;
  EXPECT_TRUE(again->diverges) << find.text;
}

// About one program in ten has it, so that twenty thousand without one do not happen.
TEST(QueuePlannerCampaign, FindsEachBrokenPlannerWithinTwentyThousandPrograms) {
  for (const PlannerEntry& planner : planner_registry()) {
    if (!planner.takes_queues || !planner.is_broken) continue;
    for (uint64_t seed = 1; seed <= static_cast<uint64_t>(proof_count(5, 1)); ++seed) {
      CampaignOptions options = options_of(planner.name, seed, 20'000);
      options.find_limit = 1;
      const CampaignReport report = reported(options);
      ASSERT_THAT(report.finds, SizeIs(1)) << planner.name << seed;
      EXPECT_EQ(report.finds[0].cause.name, "slot_reuse");
      EXPECT_LE(report.finds[0].dispatch_count, 6u) << report.finds[0].text;
      expect_shown(report.finds[0]);
    }
  }
}

TEST(QueuePlannerCampaign, FindsNothingInAPlannerThatIsNotBroken) {
  const int count = proof_count(100'000, 600);
  for (const PlannerEntry& planner : planner_registry()) {
    if (!planner.takes_queues || planner.is_broken) continue;
    const CampaignReport report =
        reported(options_of(planner.name, 7, static_cast<uint64_t>(count)));
    EXPECT_EQ(report.run_count, static_cast<uint64_t>(count));
    EXPECT_EQ(report.failing_run_count, 0u) << planner.name;
    EXPECT_GE(report.cpu_run_count, report.run_count / 64) << planner.name;
  }
  if (!HasFailure()) {
    print_proof(count, "each planner that is not broken adds no finding on several queues");
  }
}

// What a wait for the queue of the pool alone does not order: with one pool there is nothing.
TEST(QueuePlannerCampaign, TakesTheEncoderThatIsNamed) {
  CampaignOptions options = options_of("stream-pool-unrecorded", 1, 300);
  options.queue_encoder = find_queue_encoder("semaphores");
  const CampaignReport several = reported(options);
  ASSERT_THAT(several.finds, SizeIs(1));
  EXPECT_THAT(several.finds[0].text,
              HasSubstr("interlock fuzz --planner=stream-pool-unrecorded --encoder=semaphores"));
  EXPECT_THAT(several.finds[0].text, HasSubstr("The encoder semaphores has placed the sync first"));
  options.queue_encoder = find_queue_encoder("edges");
  EXPECT_THAT(reported(options).finds, IsEmpty());
}

TEST(QueuePlannerCampaign, BlamesABrokenEncoderBeforeARightPlanner) {
  CampaignOptions options = options_of("fresh", 1, 300);
  options.queue_encoder = find_queue_encoder("mlx-cuda");
  const CampaignReport report = reported(options);
  ASSERT_FALSE(report.finds.empty());
  for (const CampaignFind& find : report.finds) {
    EXPECT_TRUE(find.fact == std::nullopt || std::holds_alternative<Hazard>(*find.fact));
    EXPECT_THAT(find.signature, testing::StartsWith("WAR-"));
  }
}

TEST(QueuePlannerCampaign, ReproducesAFindFromItsRunAloneOnAnyNumberOfThreads) {
  CampaignOptions options = options_of("stream-pool-unrecorded", 4, 60);
  const CampaignReport one = reported(options);
  options.job_count = 3;
  const CampaignReport three = reported(options);
  ASSERT_FALSE(one.finds.empty());
  ASSERT_EQ(one.finds.size(), three.finds.size());
  EXPECT_EQ(one.finds[0].text, three.finds[0].text);
  options.first_run = one.finds[0].run_index;
  options.run_count = 1;
  const CampaignReport again = reported(options);
  ASSERT_FALSE(again.finds.empty());
  EXPECT_EQ(again.finds[0].signature, one.finds[0].signature);
}

// Lifetime statements have no place that several queues tell, and no encoder for them takes any.
TEST(QueuePlannerCampaign, MakesDispatchesAlone) {
  const CampaignOptions options = options_of("liveness", 1, 1);
  for (uint64_t run = 0; run < 200; ++run) {
    const Result<Program> program = build(draft_of_run(options, run));
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_TRUE(program->lifetimes.empty());
  }
}

}  // namespace
}  // namespace interlock::queue_planner_campaign_test
