// Campaigns against the encoders for one queue that do more than place full barriers in the given
// order: ours with scopes, and ggml's that reorders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "encoder/sync/encoder.h"
#include "encoder/text/parser.h"
#include "fuzz/campaign/campaign.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "tests/program_count.h"

namespace interlock::encoder_campaign_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

CampaignReport reported(std::string_view encoder, uint64_t seed, uint64_t run_count,
                        uint64_t find_limit) {
  CampaignOptions options;
  options.encoder = find_encoder(encoder);
  EXPECT_NE(options.encoder, nullptr) << encoder;
  options.seed = seed;
  options.run_count = run_count;
  options.find_limit = find_limit;
  options.oracles.judges_excess = encoder == "interlock-scoped";
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? std::move(report).value() : CampaignReport{};
}

// One program in 25 shows it, so that 20,000 without one do not happen.
TEST(EncoderCampaign, FindsWhatGgmlVulkanReordersWithinTwentyThousandPrograms) {
  const CampaignReport report = reported("ggml-vulkan-27805", 1, 20'000, 1);
  EXPECT_THAT(report.disagreements, IsEmpty());
  ASSERT_THAT(report.finds, SizeIs(1));
  const CampaignFind& find = report.finds[0];
  EXPECT_LE(find.dispatch_count, 4u) << find.text;
  const auto program = parse(find.text);
  ASSERT_TRUE(program) << program.error().message;
  const CheckReport checked = check(*program);
  EXPECT_TRUE(is_as_expected(*program, checked, judge_expectations(*program, checked)))
      << find.text;
  ASSERT_FALSE(checked.findings.empty());
  EXPECT_EQ(checked.findings[0].kind, FindingKind::kReordered) << find.text;
}

TEST(EncoderCampaign, FindsNothingInItsRepairedTwin) {
  const int count = proof_count(100'000, 2'000);
  const CampaignReport report = reported("ggml-vulkan-reorder", 7, static_cast<uint64_t>(count), 0);
  EXPECT_EQ(report.failing_run_count, 0u);
  EXPECT_THAT(report.disagreements, IsEmpty());
  if (!HasFailure())
    print_proof(count, "ggml's reordering that looks below views orders nothing wrong");
}

// Nor more barriers than `interlock` has, in programs that read by uniform, too.
TEST(EncoderCampaign, FindsNothingInInterlockScoped) {
  const int count = proof_count(100'000, 2'000);
  const CampaignReport report = reported("interlock-scoped", 7, static_cast<uint64_t>(count), 0);
  EXPECT_EQ(report.failing_run_count, 0u);
  EXPECT_THAT(report.disagreements, IsEmpty());
  if (!HasFailure()) {
    print_proof(
        count,
        "in campaigns the encoder with scopes leaves nothing and places the fewest barriers");
  }
}

}  // namespace
}  // namespace interlock::encoder_campaign_test
