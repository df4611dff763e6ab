// Campaigns on programs of several queues as they stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "fuzz/campaign/campaign.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::queue_program_campaign_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

CampaignReport reported(const CampaignOptions& options) {
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? std::move(report).value() : CampaignReport{};
}

CampaignOptions options_of_queues(uint64_t run_count) {
  CampaignOptions options;
  options.generator.has_queues = true;
  options.run_count = run_count;
  return options;
}

TEST(QueueProgramCampaign, KeepsFindsThatSayWhatIsFound) {
  CampaignOptions options = options_of_queues(proof_count(400, 200, 20));
  options.seed = 3;
  options.finds_per_shape = 1;
  const CampaignReport report = reported(options);
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_GT(report.failing_run_count, options.run_count / 5);
  // One in 64, and slow builds try few.
  if (!is_slow_build()) {
    EXPECT_GT(report.cpu_run_count, 0u);
  }
  std::vector<std::string> signatures;
  for (const CampaignFind& find : report.finds) {
    signatures.push_back(find.signature);
    const Program program = program_with_queues(find.text);
    const CheckReport found = check(program);
    EXPECT_TRUE(is_as_expected(program, found, judge_expectations(program, found))) << find.text;
    EXPECT_THAT(find.text, HasSubstr("interlock fuzz --queues --seed=3"));
    EXPECT_LE(find.dispatch_count, 4u) << find.text;
  }
  if (is_slow_build()) return;
  EXPECT_THAT(signatures, Contains("deadlock"));
  EXPECT_THAT(signatures, Contains(testing::StartsWith("RAW-ordered")));
  EXPECT_THAT(signatures, Contains(testing::StartsWith("use-after-free-")));
}

// What one replay leaves and another one finds is told apart where the text is in reference order.
TEST(QueueProgramCampaign, KeepsFindsBetweenReplays) {
  CampaignOptions options = options_of_queues(1);
  options.seed = 11;
  options.first_run = 1832;
  std::vector<std::string> signatures;
  for (const CampaignFind& find : reported(options).finds) signatures.push_back(find.signature);
  EXPECT_THAT(signatures, Contains("clobber-replay-Opaque-host_reads"));
}

TEST(QueueProgramCampaign, GivesTheSameFilesOnAnyNumberOfThreads) {
  std::vector<std::vector<std::string>> texts;
  for (const uint32_t job_count : {1u, 3u}) {
    CampaignOptions options = options_of_queues(proof_count(60, 40));
    options.finds_per_shape = 1;
    options.job_count = job_count;
    texts.emplace_back();
    for (const CampaignFind& find : reported(options).finds) texts.back().push_back(find.text);
  }
  EXPECT_THAT(texts[0], Not(IsEmpty()));
  EXPECT_EQ(texts[0], texts[1]);
}

OrderFindings find_no_ordered_hazard(const Program& text, HazardsListed listed,
                                     uint64_t& work_left) {
  OrderFindings findings = find_order_findings(text, listed, work_left);
  std::erase_if(findings.hazards, [](const ByteHazards& hazard) { return hazard.is_ordered; });
  return findings;
}

TEST(QueueProgramCampaign, MinimizesADisagreement) {
  CampaignOptions options = options_of_queues(2000);
  options.queue_judges.methods.find_order = find_no_ordered_hazard;
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      ("interlock_queue_disagreements_" + std::to_string(getpid()));
  options.out_dir = folder.string();
  const CampaignReport report = reported(options);
  ASSERT_FALSE(report.disagreements.empty());
  EXPECT_THAT(report.disagreements,
              Contains(testing::AllOf(HasSubstr("stage chains: The search of chains finds"),
                                      HasSubstr(" to 2 dispatches: "))));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("disagreement-chains-")) continue;
    ParseOptions parse_options;
    parse_options.reads_every_queue = true;
    const auto program = parse_file(entry.path().string(), parse_options);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_LE(program->statements.size(), 4u);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace interlock::queue_program_campaign_test
