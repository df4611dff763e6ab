#include "backends/vulkan/queue.h"

#include "backends/vulkan/driver_error.h"

namespace interlock {

Result<std::unique_ptr<VulkanQueue>> VulkanQueue::create(VulkanDevice& device, VkQueue handle,
                                                         VkResult* failed) {
  std::unique_ptr<VulkanQueue> queue(new VulkanQueue(device, handle));
  const VolkDeviceTable& table = device.table();
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = device.queue_family();
  VkResult result = table.vkCreateCommandPool(device.handle(), &pool, nullptr, &queue->pool_);
  if (result == VK_SUCCESS) {
    VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    commands.commandPool = queue->pool_;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    result = table.vkAllocateCommandBuffers(device.handle(), &commands, &queue->commands_);
  }
  if (result == VK_SUCCESS) {
    const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    result = table.vkCreateFence(device.handle(), &fence, nullptr, &queue->fence_);
  }
  if (result != VK_SUCCESS) return driver_error(result, "preparing a queue", failed);
  return queue;
}

VulkanQueue::~VulkanQueue() {
  const VolkDeviceTable& table = device_.table();
  table.vkDestroyFence(device_.handle(), fence_, nullptr);
  table.vkDestroyCommandPool(device_.handle(), pool_, nullptr);
}

VkResult VulkanQueue::begin() {
  const VkResult reset = device_.table().vkResetCommandPool(device_.handle(), pool_, 0);
  if (reset != VK_SUCCESS) return reset;
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  return device_.table().vkBeginCommandBuffer(commands_, &info);
}

VkResult VulkanQueue::submit() {
  const VolkDeviceTable& table = device_.table();
  const VkResult ended = table.vkEndCommandBuffer(commands_);
  if (ended != VK_SUCCESS) return ended;
  VkCommandBufferSubmitInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO};
  commands.commandBuffer = commands_;
  VkSubmitInfo2 info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &commands;
  const VkResult submitted = table.vkQueueSubmit2(handle_, 1, &info, fence_);
  is_pending_ = submitted == VK_SUCCESS;
  return submitted;
}

VkResult VulkanQueue::wait(double timeout_seconds) {
  const VolkDeviceTable& table = device_.table();
  const auto timeout_ns = static_cast<uint64_t>(timeout_seconds * 1e9);
  const VkResult waited = table.vkWaitForFences(device_.handle(), 1, &fence_, VK_TRUE, timeout_ns);
  if (waited != VK_SUCCESS) return waited;
  const VkResult reset = table.vkResetFences(device_.handle(), 1, &fence_);
  is_pending_ = reset != VK_SUCCESS;  // With its fence signalled the queue is of no use.
  return reset;
}

}  // namespace interlock
