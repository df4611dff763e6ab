#include "backends/vulkan/session.h"

#include <utility>

namespace interlock {

Result<std::unique_ptr<VulkanSession>> VulkanSession::open(const VulkanOptions& options,
                                                           VkResult* failed) {
  auto session = std::make_unique<VulkanSession>();
  auto instance = VulkanInstance::create(options.validates, failed);
  if (!instance) return instance.error();
  session->instance = std::move(*instance);
  if (options.on_instance) options.on_instance();
  auto device = VulkanDevice::create(*session->instance, options.on_device_table, failed);
  if (!device) return device.error();
  session->device = std::move(*device);
  session->pipelines = std::make_unique<VulkanPipelines>(*session->device);
  for (VkQueue handle : session->device->queues()) {
    auto queue = VulkanQueue::create(*session->device, handle, failed);
    if (!queue) return queue.error();
    session->queues.push_back(std::move(*queue));
  }
  session->arena = std::make_unique<ArenaMemory>(*session->device, options.always_stages);
  return session;
}

}  // namespace interlock
