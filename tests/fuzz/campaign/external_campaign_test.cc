// Campaigns against encoders that are no part of this build: what they do instead of answering is
// found, made small and kept, as hazards are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "encoder/sync/trivial_encoders.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/campaign_files.h"
#include "fuzz/external/opened_encoder.h"
#include "tests/program_count.h"

namespace interlock::external_campaign_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Campaign {
  CampaignOptions options;
  CampaignReport report;
};

Campaign campaign_against(const EncoderEntry& entry, uint64_t run_count, uint32_t job_count = 1) {
  Campaign campaign;
  campaign.options.encoder = &entry;
  campaign.options.run_count = run_count;
  campaign.options.job_count = job_count;
  auto report = run_campaign(campaign.options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (report) campaign.report = std::move(*report);
  EXPECT_THAT(campaign.report.disagreements, IsEmpty());
  return campaign;
}

std::unique_ptr<OpenedEncoder> faulty(const std::string& arguments, double timeout_seconds = 30) {
  auto encoder = open_encoder("exec:" FAULTY_ENCODER " " + arguments,
                              {.exec_timeout_seconds = timeout_seconds, .stop = nullptr});
  EXPECT_TRUE(encoder) << (encoder ? "" : encoder.error().message);
  return encoder ? std::move(*encoder) : nullptr;
}

std::vector<std::string> causes_of(const CampaignReport& report) {
  std::vector<std::string> causes;
  for (const CampaignFind& find : report.finds) causes.push_back(find.cause.name);
  return causes;
}

TEST(ExternalCampaign, FindsNothingInARightEncoder) {
  const auto encoder = faulty("none");
  const uint64_t run_count = is_slow_build() ? 100 : 500;
  const Campaign campaign = campaign_against(encoder->entry, run_count);
  EXPECT_EQ(campaign.report.run_count, run_count);
  EXPECT_THAT(campaign.report.finds, IsEmpty());
}

// One program in some ten has an atomic.
TEST(ExternalCampaign, KeepsTheSmallestProgramOfEachFailure) {
  for (const char* const fault : {"crash", "end"}) {
    const auto encoder = faulty(fault);
    const Campaign campaign = campaign_against(encoder->entry, 100);
    const std::string cause = fault == std::string("end") ? "early-end" : fault;
    ASSERT_THAT(causes_of(campaign.report), ElementsAre(cause));
    const CampaignFind& find = campaign.report.finds[0];
    EXPECT_EQ(find.dispatch_count, 1u);
    EXPECT_THAT(find.text, AllOf(HasSubstr(find.failure), HasSubstr(" atomics "),
                                 HasSubstr("# Again with: interlock encode --encoder='exec:/")));
    EXPECT_THAT(command_of_run(campaign.options, 3, false),
                HasSubstr("--encoder='exec:" FAULTY_ENCODER));
  }
}

TEST(ExternalCampaign, KeepsTheSmallestProgramOfAHang) {
  const auto encoder = faulty("hang", 0.1);
  const Campaign campaign = campaign_against(encoder->entry, 20);
  ASSERT_THAT(causes_of(campaign.report), ElementsAre("hang"));
  EXPECT_LT(campaign.report.finds[0].dispatch_count, 8u);
}

TEST(ExternalCampaign, SaysThatAnEncoderDoesNotRepeatItself) {
  const auto encoder = faulty("forgetful 3");
  const Campaign campaign = campaign_against(encoder->entry, is_slow_build() ? 20 : 60);
  const std::vector<std::string> causes = causes_of(campaign.report);
  ASSERT_TRUE(std::ranges::count(causes, "unrepeatable") == 1) << testing::PrintToString(causes);
  const auto find = std::ranges::find(campaign.report.finds, "unrepeatable",
                                      [](const CampaignFind& f) { return f.cause.name; });
  EXPECT_THAT(find->failure, HasSubstr("asked for this program twice and did not do the same"));
}

TEST(ExternalCampaign, DoesNotDependOnTheNumberOfJobs) {
  const auto encoder = faulty("ring 3");
  const uint64_t run_count = 40;
  const auto texts = [&](uint32_t job_count) {
    std::vector<std::string> of_finds;
    for (const CampaignFind& find :
         campaign_against(encoder->entry, run_count, job_count).report.finds) {
      of_finds.push_back(find.text);
    }
    return of_finds;
  };
  const std::vector<std::string> of_one = texts(1);
  EXPECT_THAT(of_one, Not(IsEmpty()));
  EXPECT_EQ(texts(3), of_one);
}

// An encoder of this build that drops a dispatch is one, too.
class DropsSecond final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    if (dispatch.id.index != 1) sink.issue_dispatch(dispatch.id);
  }
};

TEST(ExternalCampaign, TellsWhatAnEncoderOfThisBuildDrops) {
  const EncoderEntry entry{"drops", "drops the second", true, []() -> std::unique_ptr<Encoder> {
                             return std::make_unique<DropsSecond>();
                           }};
  const Campaign campaign = campaign_against(entry, 20);
  const std::vector<std::string> causes = causes_of(campaign.report);
  ASSERT_TRUE(std::ranges::count(causes, "illegal-answer") == 1);
  const auto find = std::ranges::find(campaign.report.finds, "illegal-answer",
                                      [](const CampaignFind& f) { return f.cause.name; });
  EXPECT_EQ(find->dispatch_count, 2u);
  EXPECT_THAT(find->failure, HasSubstr("The encoder never issues"));
}

}  // namespace
}  // namespace interlock::external_campaign_test
