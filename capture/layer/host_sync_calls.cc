// What the host learns of the device's progress. Only what it learns is written: applications ask
// fences in a loop.

#include <volk.h>

#include <array>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/pretended_device.h"
#include "capture/log/object_records.h"
#include "capture/log/queue_records.h"

namespace interlock {
namespace {

VKAPI_ATTR VkResult VKAPI_CALL create_semaphore(VkDevice device, const VkSemaphoreCreateInfo* info,
                                                const VkAllocationCallbacks* allocator,
                                                VkSemaphore* semaphore) {
  const VkResult result =
      device_of(device).next.vkCreateSemaphore(device, info, allocator, semaphore);
  if (result != VK_SUCCESS) return result;
  const auto* const type = find_in_chain<VkSemaphoreTypeCreateInfo>(
      info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  const bool is_timeline = type != nullptr && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
  log().append(CreateSemaphoreRecord{number_of(*semaphore), is_timeline ? 1u : 0u,
                                     is_timeline ? type->initialValue : 0});
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(VkDevice device, uint32_t count,
                                               const VkFence* fences, VkBool32 waits_for_all,
                                               uint64_t timeout) {
  Device& owner = device_of(device);
  const VkResult result = owner.next.vkWaitForFences(device, count, fences, waits_for_all, timeout);
  log_failure("vkWaitForFences", result, owner);
  if (result != VK_SUCCESS) return result;
  FenceReachedRecord record;
  for (uint32_t i = 0; i < count; ++i) {
    // Which of several it was, only they know.
    if (waits_for_all == VK_TRUE || count == 1 ||
        owner.next.vkGetFenceStatus(device, fences[i]) == VK_SUCCESS) {
      record.fences.push_back(number_of(fences[i]));
    }
  }
  log().append(record);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL get_fence_status(VkDevice device, VkFence fence) {
  const VkResult result = device_of(device).next.vkGetFenceStatus(device, fence);
  log_failure("vkGetFenceStatus", result, device_of(device));
  if (result == VK_SUCCESS) log().append(FenceReachedRecord{{number_of(fence)}});
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device, const VkSemaphoreWaitInfo* info,
                                               uint64_t timeout) {
  Device& owner = device_of(device);
  const VkResult result = owner.next.vkWaitSemaphores(device, info, timeout);
  log_failure("vkWaitSemaphores", result, owner);
  if (result != VK_SUCCESS) return result;
  const bool waits_for_all =
      (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) == 0 || info->semaphoreCount == 1;
  for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
    uint64_t value = info->pValues[i];
    if (!waits_for_all) {
      uint64_t reached = 0;
      owner.next.vkGetSemaphoreCounterValue(device, info->pSemaphores[i], &reached);
      if (reached < value) continue;
    }
    log().append(SemaphoreReachedRecord{number_of(info->pSemaphores[i]), value});
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL get_counter(VkDevice device, VkSemaphore semaphore,
                                           uint64_t* value) {
  const VkResult result =
      device_of(device).next.vkGetSemaphoreCounterValue(device, semaphore, value);
  log_failure("vkGetSemaphoreCounterValue", result, device_of(device));
  if (result == VK_SUCCESS && *value > 0) {
    log().append(SemaphoreReachedRecord{number_of(semaphore), *value});
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL signal_semaphore(VkDevice device,
                                                const VkSemaphoreSignalInfo* info) {
  log().append(HostSignalRecord{number_of(info->semaphore), info->value});
  const VkResult result = device_of(device).next.vkSignalSemaphore(device, info);
  log_failure("vkSignalSemaphore", result, device_of(device));
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_for_device(VkDevice device) {
  const VkResult result = device_of(device).next.vkDeviceWaitIdle(device);
  log_failure("vkDeviceWaitIdle", result, device_of(device));
  if (result == VK_SUCCESS) log().append(WaitIdleRecord{number_of(device), 0});
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL wait_for_queue(VkQueue queue) {
  const auto lock = lock_real_queue();
  const VkResult result = device_of(queue).next.vkQueueWaitIdle(real_queue(queue));
  log_failure("vkQueueWaitIdle", result, device_of(queue), number_of(queue));
  if (result == VK_SUCCESS) log().append(WaitIdleRecord{0, number_of(queue)});
  return result;
}

template <auto kNext, bool kSets>
VKAPI_ATTR VkResult VKAPI_CALL change_event(VkDevice device, VkEvent event) {
  log().append(HostEventRecord{number_of(event), kSets ? 1u : 0u});
  return (device_of(device).next.*kNext)(device, event);
}

VKAPI_ATTR VkResult VKAPI_CALL get_event_status(VkDevice device, VkEvent event) {
  const VkResult result = device_of(device).next.vkGetEventStatus(device, event);
  if (result == VK_EVENT_SET)
    log().append(NotUnderstoodRecord{"vkGetEventStatus of one that is set"});
  return result;
}

}  // namespace

std::span<const Intercepted> host_sync_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCreateSemaphore", as_function(create_semaphore)},
      Intercepted{"vkDestroySemaphore",
                  as_function(destroy_object<&VolkDeviceTable::vkDestroySemaphore,
                                             VK_OBJECT_TYPE_SEMAPHORE, VkSemaphore>)},
      Intercepted{
          "vkDestroyFence",
          as_function(
              destroy_object<&VolkDeviceTable::vkDestroyFence, VK_OBJECT_TYPE_FENCE, VkFence>)},
      Intercepted{
          "vkDestroyEvent",
          as_function(
              destroy_object<&VolkDeviceTable::vkDestroyEvent, VK_OBJECT_TYPE_EVENT, VkEvent>)},
      Intercepted{"vkWaitForFences", as_function(wait_for_fences)},
      Intercepted{"vkGetFenceStatus", as_function(get_fence_status)},
      Intercepted{"vkWaitSemaphores", as_function(wait_semaphores)},
      Intercepted{"vkWaitSemaphoresKHR", as_function(wait_semaphores)},
      Intercepted{"vkGetSemaphoreCounterValue", as_function(get_counter)},
      Intercepted{"vkGetSemaphoreCounterValueKHR", as_function(get_counter)},
      Intercepted{"vkSignalSemaphore", as_function(signal_semaphore)},
      Intercepted{"vkSignalSemaphoreKHR", as_function(signal_semaphore)},
      Intercepted{"vkDeviceWaitIdle", as_function(wait_for_device)},
      Intercepted{"vkQueueWaitIdle", as_function(wait_for_queue)},
      Intercepted{"vkSetEvent", as_function(change_event<&VolkDeviceTable::vkSetEvent, true>)},
      Intercepted{"vkResetEvent", as_function(change_event<&VolkDeviceTable::vkResetEvent, false>)},
      Intercepted{"vkGetEventStatus", as_function(get_event_status)},
  };
  return kCalls;
}

}  // namespace interlock
