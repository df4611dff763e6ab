// Fuzzed programs on the Vulkan device: ten thousand of them, each under several schedules, and
// campaigns whose device hangs or is lost on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <volk.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/campaign/campaign.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/program_count.h"

namespace interlock::vulkan_campaign_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using VulkanCampaign = OnVulkan;

// Not under validation, which the other tests have: it takes longer than all the rest.
VulkanBackend& plain_vulkan() {
  static auto* const backend = new VulkanBackend({.overlap = OverlapKind::kOneQueue});
  return *backend;
}

// Who places the barriers, and from which run number on.
struct Share {
  const char* encoder;  // Empty: the program has its own.
  uint64_t first_run;
};

class TenThousandPrograms : public OnVulkan, public testing::WithParamInterface<Share> {};

// Clean programs leave in every schedule what issue order leaves; hazards change outputs only where
// the shadow machine says so; and where the device rounds as the CPU does, every schedule leaves
// the bytes that it leaves there, so the outputs that diverge are the same.
TEST_P(TenThousandPrograms, AgreeWhereTheyMustAndDivergeWhereTheSimulatorSaysSo) {
  CampaignOptions options;
  options.encoder = *GetParam().encoder == '\0' ? nullptr : find_encoder(GetParam().encoder);
  options.oracles.encoder = options.encoder;
  options.oracles.cpu_period = 0;  // The device oracle runs the CPU.
  options.oracles.device.backend = &plain_vulkan();
  options.oracles.device.overlap_trial_count = 0;
  uint64_t predicted_count = 0;
  uint64_t diverging_count = 0;
  const auto count = static_cast<uint64_t>(proof_count(1250, 150, 12));
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t run = GetParam().first_run + i;
    const OracleReport report = judge(draft_of_run(options, run), options.oracles, run);
    for (const InternalDisagreement& disagreement : report.disagreements) {
      ADD_FAILURE() << "run " << run << ": " << disagreement.message;
    }
    ASSERT_EQ(report.device.failure, "") << run;
    ASSERT_TRUE(report.device.ran || report.device.is_refused) << run;
    predicted_count += report.device.predicted_output_count;
    diverging_count += report.device.diverging_output_count;
  }
  RecordProperty("predicted", static_cast<int>(predicted_count));
  RecordProperty("diverging", static_cast<int>(diverging_count));
  if (std::string(GetParam().encoder) == "interlock") {
    EXPECT_EQ(predicted_count, 0u);
    return;
  }
  if (is_slow_build()) return;  // Of so few, no share.
  // Of outputs that can differ some do not: a stale value may be the same number, and one byte is
  // the same with odds of 1 in 256. From 75 to 95 in 100 differed.
  EXPECT_GT(predicted_count, count / 4);
  EXPECT_GT(diverging_count, predicted_count / 2);
  EXPECT_LE(diverging_count, predicted_count);
}

INSTANTIATE_TEST_SUITE_P(OnVulkan, TenThousandPrograms,
                         testing::Values(Share{"", 0}, Share{"", 1250}, Share{"", 2500},
                                         Share{"none", 0}, Share{"none", 1250},
                                         Share{"mlx-2024", 0}, Share{"mlx-2024", 1250},
                                         Share{"interlock", 0}));

constexpr uint64_t kRuns = 60;

CampaignReport campaign_on(Backend* device) {
  CampaignOptions options;
  options.encoder = find_encoder("mlx-2024");
  options.run_count = kRuns;
  options.keeps_all_signatures = true;
  options.oracles.device.backend = device;
  options.oracles.device.overlap_trial_count = 1;
  auto report = run_campaign(options);
  EXPECT_TRUE(report.has_value());
  return std::move(report).value();
}

std::vector<std::string> texts_of(const CampaignReport& report) {
  std::vector<std::string> texts;
  for (const CampaignFind& find : report.finds) texts.push_back(find.text);
  return texts;
}

// Of all submissions, these two go wrong.
int submission_count = 0;
bool is_faulty_submission() {
  ++submission_count;
  return submission_count == 50 || submission_count == 120;
}

// The report of a campaign whose device fails twice on the way, and is opened anew each time.
void expect_to_go_on(std::function<void(VolkDeviceTable&)> on_device_table,
                     const std::string& message) {
  submission_count = 0;
  VulkanBackend device(
      {.overlap = OverlapKind::kOneQueue, .on_device_table = std::move(on_device_table)});
  const CampaignReport report = campaign_on(&device);
  ASSERT_THAT(report.device.failures, SizeIs(2));
  for (const DeviceFailure& failure : report.device.failures) {
    EXPECT_THAT(failure.message, HasSubstr(message));
  }
  EXPECT_EQ(report.device.program_count, kRuns - 2);
  EXPECT_EQ(report.run_count, kRuns);
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_GT(report.finds.size(), 2u);
  EXPECT_EQ(texts_of(report), texts_of(campaign_on(nullptr)));
}

PFN_vkQueueSubmit2 real_submit = nullptr;
PFN_vkWaitForFences real_wait = nullptr;
VkFence forgotten_fence = VK_NULL_HANDLE;  // Is never signalled.

VKAPI_ATTR VkResult VKAPI_CALL forget_some(VkQueue queue, uint32_t count,
                                           const VkSubmitInfo2* infos, VkFence fence) {
  if (!is_faulty_submission()) return real_submit(queue, count, infos, fence);
  forgotten_fence = fence;
  return VK_SUCCESS;
}

// Says at once what a wait for the fence that was forgotten says in the end.
VKAPI_ATTR VkResult VKAPI_CALL wait_in_no_time(VkDevice device, uint32_t count,
                                               const VkFence* fences, VkBool32 waits_for_all,
                                               uint64_t timeout_ns) {
  if (std::find(fences, fences + count, forgotten_fence) == fences + count) {
    return real_wait(device, count, fences, waits_for_all, timeout_ns);
  }
  forgotten_fence = VK_NULL_HANDLE;  // A later device may use the handle again.
  return VK_TIMEOUT;
}

TEST_F(VulkanCampaign, GoesOnWhenADeviceHangs) {
  expect_to_go_on(
      [](VolkDeviceTable& table) {
        real_submit = table.vkQueueSubmit2;
        real_wait = table.vkWaitForFences;
        table.vkQueueSubmit2 = forget_some;
        table.vkWaitForFences = wait_in_no_time;
      },
      "The Vulkan device does not answer while waiting for its queue (VK_TIMEOUT).");
}

VKAPI_ATTR VkResult VKAPI_CALL lose_some(VkQueue queue, uint32_t count, const VkSubmitInfo2* infos,
                                         VkFence fence) {
  return is_faulty_submission() ? VK_ERROR_DEVICE_LOST : real_submit(queue, count, infos, fence);
}

TEST_F(VulkanCampaign, GoesOnWhenADeviceIsLost) {
  expect_to_go_on(
      [](VolkDeviceTable& table) {
        real_submit = table.vkQueueSubmit2;
        table.vkQueueSubmit2 = lose_some;
      },
      "The Vulkan device was lost while submitting commands (VK_ERROR_DEVICE_LOST).");
}

}  // namespace
}  // namespace interlock::vulkan_campaign_test
