// Modes of the sample application on two queues, of one family each.
#include <volk.h>

#include <cstdlib>
#include <vector>

#include "tests/capture/application/changed_driver.h"
#include "tests/capture/application/sample_modes.h"

namespace interlock {
namespace {

void run_on_two_queues(Sample& sample, bool is_ordered) {
  const VkDevice device = sample.device.device();
  VkSemaphore semaphore = VK_NULL_HANDLE;
  const VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, nullptr, 0};
  if (is_ordered) require(vkCreateSemaphore(device, &info, nullptr, &semaphore), "a semaphore");
  const VkCommandBuffer first = sample.device.begin();
  sample.device.dispatch(first, sample.first);
  sample.device.submit(first, nullptr, VK_NULL_HANDLE, semaphore);

  VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool_info.queueFamilyIndex = 1;
  VkCommandPool pool = VK_NULL_HANDLE;
  require(vkCreateCommandPool(device, &pool_info, nullptr, &pool), "a pool");
  VkCommandBufferAllocateInfo allocate = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = pool;
  allocate.commandBufferCount = 1;
  VkCommandBuffer second = VK_NULL_HANDLE;
  require(vkAllocateCommandBuffers(device, &allocate, &second), "a command buffer");
  const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, 0,
                                          nullptr};
  require(vkBeginCommandBuffer(second, &begin), "vkBeginCommandBuffer");
  sample.device.dispatch(second, sample.second);
  sample.device.submit_to(sample.device.other_queue(), second, nullptr, semaphore, VK_NULL_HANDLE);
  require(vkDeviceWaitIdle(device), "vkDeviceWaitIdle");
  vkDestroyCommandPool(device, pool, nullptr);
  vkDestroySemaphore(device, semaphore, nullptr);
}

}  // namespace

void run_family_chains(Sample& sample) {
  const VkPhysicalDevice physical = sample.device.physical();
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties2(physical, &count, nullptr);
  std::vector<VkQueueFamilyGlobalPriorityPropertiesKHR> chained(count);
  std::vector<VkQueueFamilyProperties2> families(count);
  for (uint32_t i = 0; i < count; ++i) {
    chained[i].sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_GLOBAL_PRIORITY_PROPERTIES_KHR;
    families[i].sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
    families[i].pNext = &chained[i];
  }
  vkGetPhysicalDeviceQueueFamilyProperties2(physical, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    if (chained[i].priorityCount != kFamilyChainNumber) std::exit(5);
    if (families[i].queueFamilyProperties.queueCount == 0) std::exit(6);
  }
  run_ordered(sample);
}

void run_queues(Sample& sample) { run_on_two_queues(sample, true); }
void run_unordered_queues(Sample& sample) { run_on_two_queues(sample, false); }

}  // namespace interlock
