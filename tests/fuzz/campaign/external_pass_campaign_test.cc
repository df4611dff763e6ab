// Campaigns against planners and replay policies in other processes: what they make of programs is
// judged as that of ours is, and what they do instead of answering is a find of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/text/parser.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/external/opened_pass.h"
#include "fuzz/judge/pass_oracle.h"
#include "tests/fuzz/campaign/campaign_folders.h"
#include "tests/program_count.h"

namespace interlock::external_pass_campaign_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::unique_ptr<OpenedPass> faulty(PassKind kind, const std::string& fault, double seconds = 30) {
  auto pass = open_pass(kind, "exec:" FAULTY_PLANNER " " + fault,
                        {.exec_timeout_seconds = seconds, .stop = nullptr});
  EXPECT_TRUE(pass) << (pass ? "" : pass.error().message);
  return pass ? std::move(*pass) : nullptr;
}

CampaignReport reported(const CampaignOptions& options) {
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (!report) return {};
  EXPECT_THAT(report->disagreements, IsEmpty());
  return *report;
}

CampaignReport report_on_planner(const OpenedPass& pass, uint64_t run_count,
                                 uint32_t job_count = 1) {
  CampaignOptions options;
  options.planner = &pass.planner;
  options.run_count = run_count;
  options.job_count = job_count;
  return reported(options);
}

CampaignReport report_on_replay(const ReplayEntry& replay, uint64_t run_count) {
  CampaignOptions options;
  options.replay = &replay;
  options.run_count = run_count;
  return reported(options);
}

std::vector<std::string> causes_of(const CampaignReport& report) {
  std::vector<std::string> causes;
  for (const CampaignFind& find : report.finds) causes.push_back(find.cause.name);
  std::ranges::sort(causes);
  return causes;
}

TEST(ExternalPlannerCampaign, FindsNothingInRightPlanners) {
  for (const char* const fault : {"none", "reuse"}) {
    const auto planner = faulty(PassKind::kPlanner, fault);
    const uint64_t run_count = is_slow_build() ? 60 : 300;
    const CampaignReport report = report_on_planner(*planner, run_count);
    EXPECT_EQ(report.run_count, run_count);
    EXPECT_THAT(report.finds, IsEmpty()) << fault << report.finds[0].text;
  }
}

// What the planner made is judged, not what it says: a value that lost its bytes is one that a
// dispatch reads wrongly in the program of the file.
TEST(ExternalPlannerCampaign, RefutesOneThatFreesValuesAfterTheirFirstUse) {
  const auto planner = faulty(PassKind::kPlanner, "short");
  const CampaignReport report = report_on_planner(*planner, is_slow_build() ? 40 : 100);
  ASSERT_THAT(causes_of(report), Contains(HasSubstr("lifetime")));
  for (const CampaignFind& find : report.finds) {
    EXPECT_EQ(find.failure, "");
    EXPECT_LE(find.dispatch_count, 4u) << find.text;
    const auto facts = find_signed(parse(find.text).value());
    EXPECT_TRUE(std::ranges::find(facts, find.signature, &SignedFact::signature) != facts.end())
        << find.text;
  }
}

TEST(ExternalPlannerCampaign, KeepsTheSmallestProgramOfACrash) {
  const auto planner = faulty(PassKind::kPlanner, "crash");
  const CampaignReport report = report_on_planner(*planner, 20);
  ASSERT_THAT(causes_of(report), ElementsAre("crash"));
  const CampaignFind& find = report.finds[0];
  EXPECT_EQ(find.dispatch_count, 3u) << find.text;
  EXPECT_THAT(find.failure, HasSubstr("The planner was ended by signal 11"));
  EXPECT_THAT(find.text, AllOf(HasSubstr(find.failure), Not(HasSubstr(" at ")),
                               HasSubstr("# Again with: interlock encode --planner='exec:/"),
                               HasSubstr(" --align=4 crash.ilk\n")));
}

TEST(ExternalPlannerCampaign, KeepsIllegalAnswersAndHangsUnderTheirNames) {
  const auto renaming = faulty(PassKind::kPlanner, "rename");
  const CampaignReport report = report_on_planner(*renaming, 10);
  ASSERT_THAT(causes_of(report), ElementsAre("illegal-answer"));
  EXPECT_EQ(report.finds[0].dispatch_count, 1u);
  const auto hanging = faulty(PassKind::kPlanner, "hang", 0.1);
  const CampaignReport hangs = report_on_planner(*hanging, 4);
  ASSERT_THAT(causes_of(hangs), ElementsAre("hang"));
}

TEST(ExternalPlannerCampaign, SaysThatAPlannerDoesNotRepeatItself) {
  const auto planner = faulty(PassKind::kPlanner, "forgetful 3");
  const CampaignReport report = report_on_planner(*planner, is_slow_build() ? 20 : 60);
  ASSERT_THAT(causes_of(report), Contains("unrepeatable"));
  const auto find = std::ranges::find(report.finds, "unrepeatable",
                                      [](const CampaignFind& f) { return f.cause.name; });
  EXPECT_THAT(find->failure, HasSubstr("The planner was asked for this program twice and did not"));
}

TEST(ExternalPlannerCampaign, DoesNotDependOnTheNumberOfJobs) {
  const auto planner = faulty(PassKind::kPlanner, "short");
  const auto texts = [&](uint32_t job_count) {
    std::vector<std::string> of_finds;
    for (const CampaignFind& find : report_on_planner(*planner, 40, job_count).finds) {
      of_finds.push_back(find.text);
    }
    return of_finds;
  };
  const std::vector<std::string> of_one = texts(1);
  EXPECT_THAT(of_one, Not(IsEmpty()));
  EXPECT_EQ(texts(3), of_one);
}

// Each write of the journal may be the last: the same command then goes on to the same files.
TEST(ExternalPlannerCampaign, GoesOnToTheFilesOfAnUndisturbedOne) {
  const auto planner = faulty(PassKind::kPlanner, "short");
  CampaignOptions options;
  options.planner = &planner->planner;
  options.run_count = 300;
  options.out_dir = campaign_folders::fresh_folder("planner_whole");
  int write_count = 0;
  options.on_journal_write = [&] { ++write_count; };
  const CampaignReport whole = reported(options);
  ASSERT_FALSE(whole.finds.empty());
  const auto files = campaign_folders::files_in(options.out_dir);
  ASSERT_GE(write_count, 3);
  options.out_dir = campaign_folders::fresh_folder("planner_stopped");
  Stop stop;
  options.stop = &stop;
  options.on_journal_write = [&, count = 0]() mutable {
    if (++count == 2) stop.request();
  };
  const CampaignReport stopped = reported(options);
  EXPECT_TRUE(stopped.was_stopped);
  EXPECT_LT(stopped.run_count, options.run_count);
  options.stop = nullptr;
  options.on_journal_write = nullptr;
  campaign_folders::expect_same_report(reported(options), whole);
  EXPECT_EQ(campaign_folders::files_in(options.out_dir), files);
}

TEST(ExternalReplayCampaign, JudgesAPolicyAsThatOfThisBuild) {
  const uint64_t run_count = is_slow_build() ? 20 : 60;
  const auto copying = faulty(PassKind::kReplay, "copy");
  EXPECT_THAT(report_on_replay(copying->replay, run_count).finds, IsEmpty());
  const auto adopting = faulty(PassKind::kReplay, "adopt");
  const CampaignReport report = report_on_replay(adopting->replay, run_count);
  const CampaignReport ours = report_on_replay(*find_replay("pytorch-181723"), run_count);
  ASSERT_THAT(report.finds, Not(IsEmpty()));
  EXPECT_EQ(causes_of(report), causes_of(ours));
  EXPECT_EQ(report.failing_run_count, ours.failing_run_count);
  const auto dropping = faulty(PassKind::kReplay, "drop");
  EXPECT_THAT(causes_of(report_on_replay(dropping->replay, 20)), ElementsAre("illegal-answer"));
}

}  // namespace
}  // namespace interlock::external_pass_campaign_test
