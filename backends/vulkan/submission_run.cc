#include "backends/vulkan/submission_run.h"

#include <variant>

#include "backends/vulkan/command_recorder.h"

namespace interlock {
namespace {

size_t buffer_count_of(const SubmissionPlan& plan) {
  size_t count = 0;
  for (const auto& action : plan.actions) {
    const auto* const submission = std::get_if<QueueSubmission>(&action);
    if (submission != nullptr) count += submission->buffers.size();
  }
  return count;
}

}  // namespace

std::unique_ptr<SubmissionRun> SubmissionRun::create(VulkanSession& session, VkBuffer arena,
                                                     const SubmissionPlan& plan,
                                                     DriverFailure& failure) {
  std::unique_ptr<SubmissionRun> run(new SubmissionRun(session, arena));
  failure = {run->make(plan), "preparing submissions"};
  return failure.result == VK_SUCCESS ? std::move(run) : nullptr;
}

VkResult SubmissionRun::make(const SubmissionPlan& plan) {
  const VolkDeviceTable& table = session_.device->table();
  const VkDevice device = session_.device->handle();
  VkSemaphoreTypeCreateInfo timeline{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  timeline.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  semaphore.pNext = &timeline;
  VkResult result = VK_SUCCESS;
  for (uint32_t i = 0; i < plan.semaphore_count && result == VK_SUCCESS; ++i) {
    result = table.vkCreateSemaphore(device, &semaphore, nullptr,
                                     &semaphores_.emplace_back(VkSemaphore{VK_NULL_HANDLE}));
  }
  VkEventCreateInfo event{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
  event.flags = VK_EVENT_CREATE_DEVICE_ONLY_BIT;
  for (uint32_t i = 0; i < plan.event_count && result == VK_SUCCESS; ++i) {
    result = table.vkCreateEvent(device, &event, nullptr,
                                 &events_.emplace_back(VkEvent{VK_NULL_HANDLE}));
  }
  if (result != VK_SUCCESS) return result;
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = session_.device->queue_family();
  result = table.vkCreateCommandPool(device, &pool, nullptr, &pool_);
  if (result != VK_SUCCESS) return result;
  VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  commands.commandPool = pool_;
  commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commands.commandBufferCount = static_cast<uint32_t>(buffer_count_of(plan));
  buffers_.resize(commands.commandBufferCount);
  return table.vkAllocateCommandBuffers(device, &commands, buffers_.data());
}

SubmissionRun::~SubmissionRun() {
  const VolkDeviceTable& table = session_.device->table();
  const VkDevice device = session_.device->handle();
  table.vkDestroyCommandPool(device, pool_, nullptr);
  for (const VkEvent event : events_) table.vkDestroyEvent(device, event, nullptr);
  for (const VkSemaphore semaphore : semaphores_) {
    table.vkDestroySemaphore(device, semaphore, nullptr);
  }
}

Result<Success> SubmissionRun::execute(const CommandList& list, const SubmissionPlan& plan,
                                       const std::function<void(DispatchId)>& host,
                                       double timeout_seconds, DriverFailure& failure) {
  const VolkDeviceTable& table = session_.device->table();
  size_t buffer = 0;
  for (const auto& action : plan.actions) {
    if (const auto* const of_host = std::get_if<HostAction>(&action)) {
      if (of_host->kind == HostAction::Kind::kDispatch) {
        host(of_host->dispatch);
        continue;
      }
      failure = {act(*of_host, timeout_seconds), "waiting for its queues"};
      if (failure.result != VK_SUCCESS) return Success{};
      continue;
    }
    const auto& submission = std::get<QueueSubmission>(action);
    const size_t first_buffer = buffer;
    for (const std::vector<CommandSpan>& spans : submission.buffers) {
      const VkCommandBuffer commands = buffers_[buffer++];
      VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
      info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
      failure = {table.vkBeginCommandBuffer(commands, &info), "recording commands"};
      if (failure.result != VK_SUCCESS) return Success{};
      CommandRecorder recorder(*session_.device, *session_.pipelines, session_.instance->log(),
                               arena_, commands);
      recorder.set_events(events_);
      for (const CommandSpan& span : spans) {
        auto recorded = recorder.record(list, span.begin, span.end);
        if (!recorded) return recorded;
      }
      failure = {table.vkEndCommandBuffer(commands), "recording commands"};
      if (failure.result != VK_SUCCESS) return Success{};
    }
    failure = {submit(submission, first_buffer), "submitting commands"};
    if (failure.result != VK_SUCCESS) return Success{};
  }
  // The plan ends with a wait for everything. But a driver may still hold the semaphore that it has
  // signaled last (Mesa 22.3.6 does), and it is soon destroyed.
  for (const VkQueue queue : session_.device->queues()) {
    failure = {table.vkQueueWaitIdle(queue), "waiting for its queues"};
    if (failure.result != VK_SUCCESS) return Success{};
  }
  is_pending_ = false;
  return Success{};
}

std::vector<VkSemaphoreSubmitInfo> SubmissionRun::infos_of(
    const std::vector<TimelinePoint>& points) const {
  std::vector<VkSemaphoreSubmitInfo> infos;
  for (const TimelinePoint& point : points) {
    VkSemaphoreSubmitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
    info.semaphore = semaphores_[point.semaphore];
    info.value = point.value;
    info.stageMask = point.stages;
    infos.push_back(info);
  }
  return infos;
}

VkResult SubmissionRun::submit(const QueueSubmission& submission, size_t first_buffer) {
  const std::vector<VkSemaphoreSubmitInfo> waits = infos_of(submission.waits);
  const std::vector<VkSemaphoreSubmitInfo> signals = infos_of(submission.signals);
  std::vector<VkCommandBufferSubmitInfo> buffers;
  for (size_t i = 0; i < submission.buffers.size(); ++i) {
    VkCommandBufferSubmitInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO};
    info.commandBuffer = buffers_[first_buffer + i];
    buffers.push_back(info);
  }
  VkSubmitInfo2 info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
  info.waitSemaphoreInfoCount = static_cast<uint32_t>(waits.size());
  info.pWaitSemaphoreInfos = waits.data();
  info.commandBufferInfoCount = static_cast<uint32_t>(buffers.size());
  info.pCommandBufferInfos = buffers.data();
  info.signalSemaphoreInfoCount = static_cast<uint32_t>(signals.size());
  info.pSignalSemaphoreInfos = signals.data();
  const VkQueue queue = session_.device->queues()[submission.device_queue];
  const VkResult submitted =
      session_.device->table().vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE);
  is_pending_ = is_pending_ || submitted == VK_SUCCESS;
  return submitted;
}

VkResult SubmissionRun::act(const HostAction& action, double timeout_seconds) {
  const VolkDeviceTable& table = session_.device->table();
  const VkDevice device = session_.device->handle();
  if (action.kind == HostAction::Kind::kSignal) {
    for (const TimelinePoint& point : action.points) {
      VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
      info.semaphore = semaphores_[point.semaphore];
      info.value = point.value;
      const VkResult signalled = table.vkSignalSemaphore(device, &info);
      if (signalled != VK_SUCCESS) return signalled;
    }
    return VK_SUCCESS;
  }
  std::vector<VkSemaphore> semaphores;
  std::vector<uint64_t> values;
  for (const TimelinePoint& point : action.points) {
    semaphores.push_back(semaphores_[point.semaphore]);
    values.push_back(point.value);
  }
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = static_cast<uint32_t>(semaphores.size());
  info.pSemaphores = semaphores.data();
  info.pValues = values.data();
  return table.vkWaitSemaphores(device, &info, static_cast<uint64_t>(timeout_seconds * 1e9));
}

}  // namespace interlock
