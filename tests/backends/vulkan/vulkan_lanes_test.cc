// Kernels and mix by 32 lanes. A device on the CPU runs eight lanes as one vector, in step, and
// workgroups have no more there: a shader that misses a barrier() between its lanes gives the right
// bits all the same. 32 lanes are several vectors, one of which runs ahead up to the next barrier.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "backends/vulkan/device.h"
#include "backends/vulkan/vulkan_backend.h"
#include "encoder/text/printer.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/schedules/choice.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::vulkan_lanes_test {
namespace {

constexpr uint32_t kLaneCount = 32;

PFN_vkGetPhysicalDeviceProperties properties_of_driver = nullptr;

VKAPI_ATTR void VKAPI_CALL have_lanes_of_several_vectors(VkPhysicalDevice device,
                                                         VkPhysicalDeviceProperties* properties) {
  properties_of_driver(device, properties);
  properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  uint32_t& lane_count_max = properties->limits.maxComputeWorkGroupSize[0];
  lane_count_max = std::min(lane_count_max, kLaneCount);
}

class VulkanLanes : public OnVulkan {
 protected:
  void SetUp() override {
    if (is_slow_build()) GTEST_SKIP() << "the shaders are those of every build";
    OnVulkan::SetUp();
  }

  MemoryImage image_by_lanes(const Program& program, const Schedule& schedule) {
    auto image = backend_.run(program, schedule, ExecutionMode::kWitness);
    EXPECT_TRUE(image.has_value()) << image.error().message;
    return image ? std::move(*image) : MemoryImage();
  }

 private:
  VulkanBackend backend_{{.overlap = OverlapKind::kOneQueue, .on_instance = [] {
                            properties_of_driver = vkGetPhysicalDeviceProperties;
                            vkGetPhysicalDeviceProperties = have_lanes_of_several_vectors;
                          }}};
};

TEST_F(VulkanLanes, GiveEveryKernelTheBitsOfTheCpu) {
  if (!has_correct_rounding()) GTEST_SKIP() << "the device may round otherwise than the CPU";
  for (const KernelCase& c : one_case_per_kernel()) {
    const Program program = program_of(c);
    const Schedule issue = reference_order_schedule(program);
    EXPECT_TRUE(image_by_lanes(program, issue) == image_after(program, issue)) << c;
  }
}

TEST_F(VulkanLanes, GiveMixTheBitsOfTheCpu) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SeededChoice choice(seed);
    RandomProgramOptions options;
    options.memory_bytes = 300 + 10 * seed;
    options.range_bytes_max = 300;
    const Program program = random_program(choice, options);
    if (!find_alias_violations(program).empty()) continue;
    const Schedule issue = reference_order_schedule(program);
    EXPECT_TRUE(image_by_lanes(program, issue) == image_after(program, issue)) << print(program);
  }
}

}  // namespace
}  // namespace interlock::vulkan_lanes_test
