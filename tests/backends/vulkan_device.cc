#include "tests/backends/vulkan_device.h"

#include <utility>

// lavapipe and the layers keep what they allocated until the process ends, and what is not ours
// cannot be freed by us. Leaks of our own are still found.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libvulkan_lvp.so\nleak:libVkLayer_khronos_validation.so\nleak:libLLVM\n";
}

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
