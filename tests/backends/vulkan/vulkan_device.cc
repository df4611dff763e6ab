#include "tests/backends/vulkan/vulkan_device.h"

#include <utility>

namespace interlock {

VulkanBackend& vulkan(OverlapKind overlap) {
  // Never destroyed, as in the registry.
  static auto* const one_queue =
      new VulkanBackend({.overlap = OverlapKind::kOneQueue, .validates = true});
  if (overlap == OverlapKind::kOneQueue) return *one_queue;
  static auto* const several_queues =
      new VulkanBackend({.overlap = OverlapKind::kSeveralQueues, .validates = true});
  return *several_queues;
}

bool has_correct_rounding() { return vulkan().capabilities().rounds_correctly; }

MemoryImage image_on_vulkan(const Program& program, const Schedule& schedule) {
  auto image = vulkan().run(program, schedule, ExecutionMode::kWitness);
  if (!image) {
    ADD_FAILURE() << image.error().message;
    return {};
  }
  return std::move(*image);
}

}  // namespace interlock
