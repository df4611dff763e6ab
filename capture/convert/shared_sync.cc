// The part of QueueSync about semaphores and fences that are shared by file descriptors. Where the
// log tells that a file which is imported was exported before, both hold the same; what comes from
// others, others signal, unseen.

#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <utility>

#include "capture/convert/queue_sync.h"

namespace interlock {
namespace {

// Of files that were exported and may be imported yet: older ones are of others again.
constexpr size_t kFilesMax = 1024;

bool is_fence(const ShareSyncRecord& record) { return record.object_type == VK_OBJECT_TYPE_FENCE; }

// A file of this type is what is there now, and not the semaphore or the fence itself.
bool is_copy(const ShareSyncRecord& record) {
  return is_fence(record) ? record.handle_type == VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT
                          : record.handle_type == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT;
}

}  // namespace

void QueueSync::apply(const ShareSyncRecord& record) {
  summary_.remark(fmt::format("{} that {} (what others do with them is not seen)",
                              is_fence(record) ? "fences" : "semaphores",
                              record.is_import != 0 ? "are imported" : "are exported"));
  const auto found = semaphores_.find(record.object);
  if (!is_fence(record) && found == semaphores_.end()) return;
  Holder& holder = is_fence(record) ? fences_[record.object] : found->second;
  if (record.is_import != 0) {
    import_file(holder, record);
  } else {
    export_to_file(holder, record);
  }
}

void QueueSync::export_to_file(Holder& holder, const ShareSyncRecord& record) {
  may_import_own_signals_ = may_import_own_signals_ || record.is_signalled != 0;
  SharedPayload shared{is_fence(record), is_copy(record), holder.payload};
  shared.payload->is_exported = shared.payload->is_timeline;
  if (shared.is_copy && !shared.payload->is_timeline) {
    shared.payload = std::make_shared<Payload>(*holder.payload);
    unsignal(holder);  // That is what it means to the semaphore, or the fence.
  }
  if (record.file == 0) return;
  files_[record.file] = std::move(shared);
  if (files_.size() <= kFilesMax) return;
  std::shared_ptr<Payload> oldest = std::move(files_.begin()->second.payload);
  files_.erase(files_.begin());
  release(std::move(oldest));
}

std::shared_ptr<QueueSync::Payload> QueueSync::payload_of(const ShareSyncRecord& record,
                                                          bool is_timeline) const {
  const auto found = record.file == 0 ? files_.end() : files_.find(record.file);
  if (found == files_.end()) return nullptr;
  const SharedPayload& shared = found->second;
  if (shared.is_copy != is_copy(record) || shared.payload->is_timeline != is_timeline) {
    return nullptr;
  }
  // A copy is a file of its own kind, which either can take.
  if (shared.is_copy) return std::make_shared<Payload>(*shared.payload);
  return shared.is_fence == is_fence(record) ? shared.payload : nullptr;
}

void QueueSync::import_file(Holder& holder, const ShareSyncRecord& record) {
  const bool is_timeline = holder.payload->is_timeline;
  std::shared_ptr<Payload> payload = payload_of(record, is_timeline);
  if (payload == nullptr && is_timeline) {
    payload = new_timeline(0);
    payload->is_imported = true;
  } else if (payload == nullptr) {
    payload = std::make_shared<Payload>();
    // What is signalled without a descriptor may have been, by the application, when it was
    // exported.
    payload->is_imported = record.is_signalled == 0 || may_import_own_signals_;
    if (!payload->is_imported) payload->signalled.emplace();
  }
  const bool is_temporary = record.is_temporary != 0 && !is_timeline;
  if (is_temporary && holder.permanent == nullptr) holder.permanent = holder.payload;
  if (!is_temporary) holder.permanent.reset();
  release(std::exchange(holder.payload, std::move(payload)));
}

void QueueSync::apply(const ResetFencesRecord& record) {
  for (const uint64_t fence : record.fences) {
    const auto found = fences_.find(fence);
    if (found != fences_.end()) unsignal(found->second);
  }
}

}  // namespace interlock
