// The calls that --exact sees, about dispatches, submissions and what the host waits for.

#include <volk.h>

#include <array>
#include <mutex>
#include <span>

#include "capture/layer/exact_calls.h"
#include "capture/layer/exact_device.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/log/exact_records.h"

namespace interlock {
namespace {

// Binds a slot, and says in the log that the next dispatch has it.
void prepare(VkCommandBuffer commands) {
  with_exact(commands, [&](ExactDevice& exact) {
    const uint64_t slot = exact.prepare_dispatch(commands);
    if (slot != 0) log().append(ExactSlotRecord{number_of(commands), slot});
  });
}

VKAPI_ATTR void VKAPI_CALL exact_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                          uint32_t z) {
  static const auto kLogging = logging<PFN_vkCmdDispatch>("vkCmdDispatch");
  if (x != 0 && y != 0 && z != 0) prepare(commands);
  kLogging(commands, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL exact_dispatch_base(VkCommandBuffer commands, uint32_t base_x,
                                               uint32_t base_y, uint32_t base_z, uint32_t x,
                                               uint32_t y, uint32_t z) {
  static const auto kLogging = logging<PFN_vkCmdDispatchBase>("vkCmdDispatchBase");
  if (x != 0 && y != 0 && z != 0) prepare(commands);
  kLogging(commands, base_x, base_y, base_z, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL exact_dispatch_indirect(VkCommandBuffer commands, VkBuffer buffer,
                                                   VkDeviceSize offset_bytes) {
  static const auto kLogging = logging<PFN_vkCmdDispatchIndirect>("vkCmdDispatchIndirect");
  prepare(commands);
  kLogging(commands, buffer, offset_bytes);
}

// Submits by `submit`, with the slots of the command buffers in view.
template <typename Submit>
VkResult follow_submission(VkQueue queue, const std::vector<VkCommandBuffer>& all, VkFence fence,
                           const Submit& submit) {
  ExactDevice* const exact = device_of(queue).exact.get();
  if (exact == nullptr) return submit();
  std::unique_ptr<ExactSubmission> submission;
  {
    const std::lock_guard lock(exact->mutex);
    submission = exact->prepare_submission(all);
  }
  if (submission == nullptr) return submit();
  log().append(ExactSubmissionRecord{number_of(queue), submission->number});
  const VkResult result = submit();
  const std::lock_guard lock(exact->mutex);
  if (result == VK_SUCCESS) {
    exact->follow(queue, std::move(submission), fence);
  } else {
    exact->cancel(std::move(submission));
  }
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_submit(VkQueue queue, uint32_t count,
                                            const VkSubmitInfo* submits, VkFence fence) {
  static const auto kLogging = logging<PFN_vkQueueSubmit>("vkQueueSubmit");
  std::vector<VkCommandBuffer> all;
  for (const VkSubmitInfo& info : std::span(submits, count)) {
    all.insert(all.end(), info.pCommandBuffers, info.pCommandBuffers + info.commandBufferCount);
  }
  return follow_submission(queue, all, fence,
                           [&] { return kLogging(queue, count, submits, fence); });
}

VKAPI_ATTR VkResult VKAPI_CALL exact_submit_2(VkQueue queue, uint32_t count,
                                              const VkSubmitInfo2* submits, VkFence fence) {
  static const auto kLogging = logging<PFN_vkQueueSubmit2>("vkQueueSubmit2");
  std::vector<VkCommandBuffer> all;
  for (const VkSubmitInfo2& info : std::span(submits, count)) {
    for (const auto& one : std::span(info.pCommandBufferInfos, info.commandBufferInfoCount)) {
      all.push_back(one.commandBuffer);
    }
  }
  return follow_submission(queue, all, fence,
                           [&] { return kLogging(queue, count, submits, fence); });
}

VKAPI_ATTR VkResult VKAPI_CALL exact_wait_for_fences(VkDevice device, uint32_t count,
                                                     const VkFence* fences, VkBool32 waits_for_all,
                                                     uint64_t timeout) {
  static const auto kLogging = logging<PFN_vkWaitForFences>("vkWaitForFences");
  const VkResult result = kLogging(device, count, fences, waits_for_all, timeout);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) {
    // Of several, which one it was is not looked at: they are read later.
    if (waits_for_all == VK_TRUE || count == 1) {
      exact.collect_after(count, fences);
    } else {
      exact.collect();
    }
  });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_get_fence_status(VkDevice device, VkFence fence) {
  static const auto kLogging = logging<PFN_vkGetFenceStatus>("vkGetFenceStatus");
  const VkResult result = kLogging(device, fence);
  if (result != VK_SUCCESS) return result;
  with_exact(device, [&](ExactDevice& exact) { exact.collect_after(1, &fence); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_wait_semaphores(VkDevice device,
                                                     const VkSemaphoreWaitInfo* info,
                                                     uint64_t timeout) {
  static const auto kLogging = logging<PFN_vkWaitSemaphores>("vkWaitSemaphores");
  const VkResult result = kLogging(device, info, timeout);
  with_exact(device, [](ExactDevice& exact) { exact.collect(); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_wait_for_device(VkDevice device) {
  static const auto kLogging = logging<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle");
  const VkResult result = kLogging(device);
  if (result != VK_SUCCESS) return result;
  // The layer's own fences are among what the device was waited for.
  with_exact(device, [](ExactDevice& exact) { exact.collect(); });
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL exact_wait_for_queue(VkQueue queue) {
  static const auto kLogging = logging<PFN_vkQueueWaitIdle>("vkQueueWaitIdle");
  const VkResult result = kLogging(queue);
  if (result != VK_SUCCESS) return result;
  // The layer's own fences are among what the queue waited for.
  with_exact(queue, [](ExactDevice& exact) { exact.collect(); });
  return result;
}

}  // namespace

std::span<const Intercepted> exact_work_calls() {
  static const std::array kCalls = {
      Intercepted{"vkCmdDispatch", as_function(exact_dispatch)},
      Intercepted{"vkCmdDispatchBase", as_function(exact_dispatch_base)},
      Intercepted{"vkCmdDispatchBaseKHR", as_function(exact_dispatch_base)},
      Intercepted{"vkCmdDispatchIndirect", as_function(exact_dispatch_indirect)},
      Intercepted{"vkQueueSubmit", as_function(exact_submit)},
      Intercepted{"vkQueueSubmit2", as_function(exact_submit_2)},
      Intercepted{"vkQueueSubmit2KHR", as_function(exact_submit_2)},
      Intercepted{"vkWaitForFences", as_function(exact_wait_for_fences)},
      Intercepted{"vkGetFenceStatus", as_function(exact_get_fence_status)},
      Intercepted{"vkWaitSemaphores", as_function(exact_wait_semaphores)},
      Intercepted{"vkWaitSemaphoresKHR", as_function(exact_wait_semaphores)},
      Intercepted{"vkDeviceWaitIdle", as_function(exact_wait_for_device)},
      Intercepted{"vkQueueWaitIdle", as_function(exact_wait_for_queue)},
  };
  return kCalls;
}

}  // namespace interlock
