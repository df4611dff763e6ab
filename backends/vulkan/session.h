// VulkanSession: an open device with all that running on it takes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/device.h"
#include "backends/vulkan/instance.h"
#include "backends/vulkan/pipelines.h"
#include "backends/vulkan/queue.h"
#include "backends/vulkan/vulkan_backend.h"

namespace interlock {

// In this order: each needs those before it.
struct VulkanSession {
  std::unique_ptr<VulkanInstance> instance;
  std::unique_ptr<VulkanDevice> device;
  std::unique_ptr<VulkanPipelines> pipelines;
  std::vector<std::unique_ptr<VulkanQueue>> queues;  // At least one.
  std::unique_ptr<ArenaMemory> arena;
  // Of programs with several queues, which the host reads and writes while they run; null at first.
  std::unique_ptr<VulkanBuffer> host_arena;

  // Errors: as VulkanInstance::create() and VulkanDevice::create(). `failed`, where it is given,
  // gets the result of the call of the driver that failed; it stays as it is where something is
  // missing.
  static Result<std::unique_ptr<VulkanSession>> open(const VulkanOptions& options,
                                                     VkResult* failed = nullptr);
};

// Keeps objects of a device that does not answer until the process ends: it may still use them.
template <class Object>
void abandon(Object object) {
  static auto* const abandoned = new std::vector<Object>;
  abandoned->push_back(std::move(object));
}

}  // namespace interlock
