// VulkanQueue: a device queue with a command buffer and the fence that says when it is done.
#pragma once

#include <volk.h>

#include <memory>

#include "backends/vulkan/device.h"
#include "encoder/program/result.h"

namespace interlock {

class VulkanQueue {
 public:
  // `failed`, where it is given, gets the result of the call of the driver that failed.
  static Result<std::unique_ptr<VulkanQueue>> create(VulkanDevice& device, VkQueue handle,
                                                     VkResult* failed = nullptr);
  ~VulkanQueue();
  VulkanQueue(const VulkanQueue&) = delete;
  VulkanQueue& operator=(const VulkanQueue&) = delete;

  // begin(), record into commands(), submit(), wait(); and again. Each error is one of the driver.
  // Requires: nothing that was submitted is unfinished.
  VkResult begin();
  VkCommandBuffer commands() const { return commands_; }
  VkResult submit();
  VkResult wait(double timeout_seconds);  // VK_TIMEOUT is an error.

  // Whether what was submitted may still run: no wait() for it has succeeded.
  bool is_pending() const { return is_pending_; }

 private:
  VulkanQueue(VulkanDevice& device, VkQueue handle) : device_(device), handle_(handle) {}

  VulkanDevice& device_;
  VkQueue handle_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  bool is_pending_ = false;
};

}  // namespace interlock
