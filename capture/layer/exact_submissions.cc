// The part of ExactDevice about submissions: when what their dispatches noted can be read.

#include <algorithm>
#include <atomic>

#include "capture/layer/exact_device.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/pretended_device.h"
#include "capture/log/exact_records.h"

namespace interlock {
namespace {

// Of all devices, as the numbers of slots are.
std::atomic<uint64_t> last_submission_number = 0;

}  // namespace

std::unique_ptr<ExactSubmission> ExactDevice::prepare_submission(
    const std::vector<VkCommandBuffer>& all) {
  collect();
  auto submission = std::make_unique<ExactSubmission>();
  const auto add = [&](const SlotList& slots) {
    for (const std::shared_ptr<ExactSlot>& slot : slots) {
      if (submission->counts[slot.get()]++ == 0) submission->slots.push_back(slot);
    }
  };
  for (const VkCommandBuffer handle : all) {
    const auto found = commands_.find(handle);
    if (found == commands_.end()) continue;
    add(*found->second.slots);
    for (const std::shared_ptr<SlotList>& executed : found->second.executed) add(*executed);
  }
  if (submission->slots.empty()) return nullptr;
  for (const std::shared_ptr<ExactSlot>& slot : submission->slots) {
    // One that is executed while it is executing has what both touch.
    slot->is_shared = slot->is_shared || slot->use_count > 0;
    ++slot->use_count;
  }
  submission->number = ++last_submission_number;
  return submission;
}

void ExactDevice::cancel(std::unique_ptr<ExactSubmission> submission) { end_uses(*submission); }

void ExactDevice::end_uses(const ExactSubmission& submission) {
  for (const std::shared_ptr<ExactSlot>& slot : submission.slots) {
    if (--slot->use_count > 0) continue;
    slot->is_shared = false;
    clear_bits(*slot);
  }
}

void ExactDevice::follow(VkQueue queue, std::unique_ptr<ExactSubmission> submission,
                         VkFence fence) {
  submission->fence_of_application = number_of(fence);
  if (free_fences_.empty()) {
    VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence made = VK_NULL_HANDLE;
    if (device_.next.vkCreateFence(device_.handle, &info, nullptr, &made) == VK_SUCCESS) {
      free_fences_.push_back(made);
    }
  }
  if (!free_fences_.empty()) {
    submission->fence = free_fences_.back();
    free_fences_.pop_back();
    // It is signalled after all that was submitted to this queue before.
    const auto lock = lock_real_queue();
    if (device_.next.vkQueueSubmit(real_queue(queue), 0, nullptr, submission->fence) !=
        VK_SUCCESS) {
      device_.next.vkDestroyFence(device_.handle, submission->fence, nullptr);
      submission->fence = VK_NULL_HANDLE;
    }
  }
  pending_.push_back(std::move(submission));
}

void ExactDevice::read(const ExactSubmission& submission) {
  for (const std::shared_ptr<ExactSlot>& slot : submission.slots) {
    const bool is_shared = slot->is_shared || submission.counts.at(slot.get()) > 1;
    log().append(ExactAccessesRecord{submission.number, slot->number, is_shared ? 1u : 0u,
                                     measured_elements(*slot)});
  }
}

// Reads those that are complete. With `waits`, it waits for those of which `is_known` says so.
void ExactDevice::collect_if(bool waits, const auto& is_known) {
  std::vector<std::unique_ptr<ExactSubmission>> rest;
  for (std::unique_ptr<ExactSubmission>& submission : pending_) {
    const bool is_waited_for = waits && is_known(*submission);
    // One that got no fence is never read; its slots are its own until it is known to be complete.
    VkResult result = is_waited_for ? VK_ERROR_UNKNOWN : VK_TIMEOUT;
    if (submission->fence != VK_NULL_HANDLE) {
      const uint64_t timeout = is_waited_for ? UINT64_MAX : 0;
      result =
          device_.next.vkWaitForFences(device_.handle, 1, &submission->fence, VK_TRUE, timeout);
    }
    if (result == VK_TIMEOUT) {
      rest.push_back(std::move(submission));
      continue;
    }
    // Of a device that is lost nothing can be read.
    if (result == VK_SUCCESS) read(*submission);
    end_uses(*submission);
    if (submission->fence == VK_NULL_HANDLE) continue;
    if (device_.next.vkResetFences(device_.handle, 1, &submission->fence) == VK_SUCCESS) {
      free_fences_.push_back(submission->fence);
    }
  }
  pending_ = std::move(rest);
}

void ExactDevice::collect() {
  collect_if(false, [](const ExactSubmission&) { return false; });
}

void ExactDevice::collect_after(uint32_t count, const VkFence* fences) {
  collect_if(true, [&](const ExactSubmission& submission) {
    const auto is_one = [&](VkFence fence) {
      return number_of(fence) == submission.fence_of_application;
    };
    return submission.fence_of_application != 0 && std::any_of(fences, fences + count, is_one);
  });
}

void ExactDevice::collect_all() {
  collect_if(true, [](const ExactSubmission&) { return true; });
}

// The fence comes after the whole call that submitted them, and so after more than the application
// waited for: to wait here could be to wait for a later batch, which waits for the application.
void ExactDevice::collect_if_used(const SlotList& slots) {
  const auto is_used = [](const std::shared_ptr<ExactSlot>& slot) { return slot->use_count > 0; };
  if (std::ranges::any_of(slots, is_used)) collect();
}

}  // namespace interlock
