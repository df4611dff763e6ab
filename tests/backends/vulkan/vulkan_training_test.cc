// The training runs of docs/bugs.md on a device: the same loss stalls, the same gradients are gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/registry.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/fuzz/workloads/training_runs.h"

namespace interlock::vulkan_training_test {
namespace {

using VulkanTraining = OnVulkan;

TEST_F(VulkanTraining, StallsWhereVjpsWereInPlace) {
  const WorkloadOptions options = lora_run(4, 3);
  const Program broken = planned_run("transformer", options, "ggml");
  const Program fixed = planned_run("transformer", options, "liveness");
  const std::vector<float> stalled = values_after(broken, vulkan(), "losses");
  const std::vector<float> falling = values_after(fixed, vulkan(), "losses");
  ASSERT_EQ(falling.size(), 3u);
  EXPECT_EQ(stalled[0], falling[0]);
  EXPECT_GT(stalled[2], stalled[0]);
  EXPECT_LT(falling[2], falling[0]);
  if (!has_correct_rounding()) return;
  EXPECT_EQ(stalled, values_after(broken, *find_backend("cpu"), "losses"));
  EXPECT_EQ(falling, values_after(fixed, *find_backend("cpu"), "losses"));
}

TEST_F(VulkanTraining, LosesItsGradientsBehindAReset) {
  const WorkloadOptions options = arena_run(3);
  const Program broken = planned_run("training", options, "ztensor-167");
  const Program fixed = planned_run("training", options, "ztensor");
  const std::vector<float> lost = values_after(broken, vulkan(), "norms");
  const std::vector<float> kept = values_after(fixed, vulkan(), "norms");
  EXPECT_EQ(lost, (std::vector<float>{kept[0], 0, 0}));
  EXPECT_THAT(kept, testing::Each(testing::Gt(0.5f)));
  if (!has_correct_rounding()) return;
  EXPECT_EQ(kept, values_after(fixed, *find_backend("cpu"), "norms"));
}

}  // namespace
}  // namespace interlock::vulkan_training_test
