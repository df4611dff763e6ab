// Campaigns against the encoders for several queues: each broken model is found, each repaired twin
// is clean, and so are ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "fuzz/campaign/campaign.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "tests/program_count.h"

namespace interlock::queue_campaign_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

CampaignReport reported(const CampaignOptions& options) {
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? std::move(report).value() : CampaignReport{};
}

CampaignOptions options_of(std::string_view encoder) {
  CampaignOptions options;
  options.queue_encoder = find_queue_encoder(encoder);
  EXPECT_NE(options.queue_encoder, nullptr) << encoder;
  return options;
}

void expect_as_it_says(const CampaignFind& find) {
  ParseOptions options;
  options.reads_every_queue = true;
  const auto program = parse(find.text, "find.ilk", options);
  ASSERT_TRUE(program) << program.error().message;
  const CheckReport report = check(*program);
  EXPECT_TRUE(is_as_expected(*program, report, judge_expectations(*program, report))) << find.text;
}

TEST(QueueCampaign, FindsEachBrokenEncoderWithinTwentyThousandPrograms) {
  for (const QueueEncoderEntry& entry : queue_encoder_registry()) {
    if (!entry.is_broken) continue;
    CampaignOptions options = options_of(entry.name);
    options.run_count = 20'000;
    options.find_limit = 2;
    const CampaignReport report = reported(options);
    EXPECT_THAT(report.disagreements, IsEmpty()) << entry.name;
    EXPECT_GE(report.finds.size(), 2u) << entry.name;
    for (const CampaignFind& find : report.finds) {
      EXPECT_LE(find.dispatch_count, 6u) << find.text;
      expect_as_it_says(find);
    }
  }
}

TEST(QueueCampaign, FindsNothingInAnEncoderThatIsNotBroken) {
  const int count = proof_count(100'000, 600);
  for (const QueueEncoderEntry& entry : queue_encoder_registry()) {
    if (entry.is_broken) continue;
    CampaignOptions options = options_of(entry.name);
    options.seed = 7;
    options.run_count = static_cast<uint64_t>(count);
    const CampaignReport report = reported(options);
    EXPECT_EQ(report.run_count, options.run_count);
    EXPECT_EQ(report.failing_run_count, 0u) << entry.name;
    EXPECT_THAT(report.disagreements, IsEmpty()) << entry.name;
  }
  if (!HasFailure()) {
    print_proof(count, "each encoder for several queues that is not broken leaves no hazard");
  }
}

std::vector<std::string> shapes_found(std::string_view encoder) {
  CampaignOptions options = options_of(encoder);
  options.run_count = 200;
  std::vector<std::string> shapes;
  for (const CampaignFind& find : reported(options).finds) shapes.push_back(find.cause.name);
  return shapes;
}

TEST(QueueCampaign, SaysWhatEachModelMisses) {
  if (is_slow_build()) GTEST_SKIP() << "Hundreds of programs must be tried.";
  EXPECT_THAT(shapes_found("mlx-cuda"), AllOf(Not(IsEmpty()), Each(StartsWith("WAR-"))));
  EXPECT_THAT(shapes_found("pytorch-no-record"), Contains("WAR-slot_reuse"));
  EXPECT_THAT(shapes_found("ggml-cuda-lost-join"), Contains(StartsWith("RAW-")));
  EXPECT_THAT(
      shapes_found("ggml-cuda-21897"),
      AllOf(Contains(StartsWith("WAW-")), Contains(StartsWith("WAR-")), Each(StartsWith("WA"))));
  EXPECT_THAT(shapes_found("ggml-vulkan-25229"), Contains("WAR-same_range"));
  EXPECT_THAT(shapes_found("mlx-fences-4099"), Contains("RAW-donation"));
  EXPECT_THAT(shapes_found("mlx-fences-2026"), AllOf(Not(IsEmpty()), Each(StartsWith("WAR-"))));
}

TEST(QueueCampaign, GivesTheSameFilesOnAnyNumberOfThreads) {
  std::vector<std::vector<std::string>> texts;
  for (const uint32_t job_count : {1u, 3u}) {
    CampaignOptions options = options_of("ggml-cuda-lost-join");
    options.run_count = is_slow_build() ? 15 : 25;
    options.job_count = job_count;
    texts.emplace_back();
    for (const CampaignFind& find : reported(options).finds) texts.back().push_back(find.text);
  }
  EXPECT_EQ(texts[0], texts[1]);
  ASSERT_FALSE(texts[0].empty());
  EXPECT_THAT(texts[0][0], HasSubstr("interlock fuzz --encoder=ggml-cuda-lost-join --seed=1"));
}

}  // namespace
}  // namespace interlock::queue_campaign_test
