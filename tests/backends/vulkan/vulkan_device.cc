#include "tests/backends/vulkan/vulkan_device.h"

#include <utility>
#include <vector>

#include "tests/backends/devices/test_device.h"

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

std::vector<TestDevice> test_devices() {
  const auto images_by_overlap = [](const Program& program) {
    std::vector<MemoryImage> images;
    for (const OverlapKind overlap : {OverlapKind::kOneQueue, OverlapKind::kSeveralQueues}) {
      auto image =
          vulkan(overlap).run(program, reference_order_schedule(program), ExecutionMode::kOverlap);
      EXPECT_TRUE(image.has_value()) << image.error().message;
      if (image) images.push_back(std::move(*image));
    }
    EXPECT_TRUE(vulkan(OverlapKind::kOneQueue).take_messages().empty());
    return images;
  };
  return {{.name = "Vulkan",
           .backend = []() -> Backend& { return vulkan(); },
           .images_by_overlap = images_by_overlap}};
}

}  // namespace interlock
