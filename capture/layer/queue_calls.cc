// Queues and what is submitted to them.

#include <volk.h>

#include <array>
#include <span>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/pretended_device.h"
#include "capture/log/object_records.h"
#include "capture/log/queue_records.h"

namespace interlock {
namespace {

VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index,
                                     VkQueue* queue) {
  device_of(device).next.vkGetDeviceQueue(device, real_family(family), index, queue);
  *queue = pretended_queue(*queue, family, index, *reinterpret_cast<void**>(device));
  log().append(QueueRecord{number_of(device), number_of(*queue), family, index});
}

VKAPI_ATTR void VKAPI_CALL get_queue_2(VkDevice device, const VkDeviceQueueInfo2* info,
                                       VkQueue* queue) {
  VkDeviceQueueInfo2 real = *info;
  real.queueFamilyIndex = real_family(info->queueFamilyIndex);
  device_of(device).next.vkGetDeviceQueue2(device, &real, queue);
  *queue = pretended_queue(*queue, info->queueFamilyIndex, info->queueIndex,
                           *reinterpret_cast<void**>(device));
  log().append(
      QueueRecord{number_of(device), number_of(*queue), info->queueFamilyIndex, info->queueIndex});
}

// Whom a batch of the older calls waits for, before all stages, and what it signals.
template <typename Info>
BatchFields semaphores_of(const Info& info) {
  const auto* const values = find_in_chain<VkTimelineSemaphoreSubmitInfo>(
      info.pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  BatchFields batch;
  for (uint32_t i = 0; i < info.waitSemaphoreCount; ++i) {
    const bool has_value = values != nullptr && i < values->waitSemaphoreValueCount;
    batch.waits.push_back({number_of(info.pWaitSemaphores[i]),
                           has_value ? values->pWaitSemaphoreValues[i] : 0,
                           VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT});
  }
  for (uint32_t i = 0; i < info.signalSemaphoreCount; ++i) {
    const bool has_value = values != nullptr && i < values->signalSemaphoreValueCount;
    batch.signals.push_back({number_of(info.pSignalSemaphores[i]),
                             has_value ? values->pSignalSemaphoreValues[i] : 0,
                             VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT});
  }
  return batch;
}

BatchFields batch_of(const VkSubmitInfo& info) {
  BatchFields batch = semaphores_of(info);
  for (uint32_t i = 0; i < info.waitSemaphoreCount; ++i) {
    batch.waits[i].stages = info.pWaitDstStageMask[i];
  }
  batch.commands = numbers_of(info.pCommandBuffers, info.commandBufferCount);
  return batch;
}

BatchFields batch_of(const VkSubmitInfo2& info) {
  BatchFields batch;
  for (const auto& wait : std::span(info.pWaitSemaphoreInfos, info.waitSemaphoreInfoCount)) {
    batch.waits.push_back({number_of(wait.semaphore), wait.value, wait.stageMask});
  }
  for (const auto& info_of_one : std::span(info.pCommandBufferInfos, info.commandBufferInfoCount)) {
    batch.commands.push_back(number_of(info_of_one.commandBuffer));
  }
  for (const auto& signal : std::span(info.pSignalSemaphoreInfos, info.signalSemaphoreInfoCount)) {
    batch.signals.push_back({number_of(signal.semaphore), signal.value, signal.stageMask});
  }
  return batch;
}

template <typename Submit>
SubmitRecord submission(VkQueue queue, std::span<const Submit> submits, VkFence fence) {
  SubmitRecord record{number_of(queue), number_of(fence), {}};
  for (const Submit& submit : submits) record.batches.push_back(batch_of(submit));
  return record;
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                      VkFence fence) {
  log().append(submission(queue, std::span(submits, count), fence));
  const auto lock = lock_real_queue();
  const VkResult result =
      device_of(queue).next.vkQueueSubmit(real_queue(queue), count, submits, fence);
  log_failure("vkQueueSubmit", result, device_of(queue), number_of(queue));
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL submit_2(VkQueue queue, uint32_t count, const VkSubmitInfo2* submits,
                                        VkFence fence) {
  log().append(submission(queue, std::span(submits, count), fence));
  const auto lock = lock_real_queue();
  const VkResult result =
      device_of(queue).next.vkQueueSubmit2(real_queue(queue), count, submits, fence);
  log_failure("vkQueueSubmit2", result, device_of(queue), number_of(queue));
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL bind_sparse(VkQueue queue, uint32_t count,
                                           const VkBindSparseInfo* infos, VkFence fence) {
  log().append(NotUnderstoodRecord{"vkQueueBindSparse"});
  // What it binds is not followed; whom it waits for and signals is.
  SubmitRecord record{number_of(queue), number_of(fence), {}};
  for (const VkBindSparseInfo& info : std::span(infos, count)) {
    record.batches.push_back(semaphores_of(info));
  }
  log().append(record);
  const auto lock = lock_real_queue();
  const VkResult result =
      device_of(queue).next.vkQueueBindSparse(real_queue(queue), count, infos, fence);
  log_failure("vkQueueBindSparse", result, device_of(queue), number_of(queue));
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL present(VkQueue queue, const VkPresentInfoKHR* info) {
  PresentRecord record{
      number_of(queue), numbers_of(info->pWaitSemaphores, info->waitSemaphoreCount), {}};
  for (uint32_t i = 0; i < info->swapchainCount; ++i) {
    record.images.push_back({number_of(info->pSwapchains[i]), info->pImageIndices[i]});
  }
  log().append(record);
  const auto lock = lock_real_queue();
  const VkResult result = device_of(queue).next.vkQueuePresentKHR(real_queue(queue), info);
  log_failure("vkQueuePresentKHR", result, device_of(queue), number_of(queue));
  return result;
}

}  // namespace

std::span<const Intercepted> queue_calls() {
  static const std::array kCalls = {
      Intercepted{"vkGetDeviceQueue", as_function(get_queue)},
      Intercepted{"vkGetDeviceQueue2", as_function(get_queue_2)},
      Intercepted{"vkQueueSubmit", as_function(submit)},
      Intercepted{"vkQueueSubmit2", as_function(submit_2)},
      Intercepted{"vkQueueSubmit2KHR", as_function(submit_2)},
      Intercepted{"vkQueueBindSparse", as_function(bind_sparse)},
      Intercepted{"vkQueuePresentKHR", as_function(present)},
  };
  return kCalls;
}

}  // namespace interlock
