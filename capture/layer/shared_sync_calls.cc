// Semaphores and fences that are shared by file descriptors.

#include <volk.h>

#include <array>

#include "capture/layer/devices.h"
#include "capture/layer/intercepted.h"
#include "capture/layer/next_functions.h"
#include "capture/layer/sync_files.h"
#include "capture/log/queue_records.h"

namespace interlock {
namespace {

struct SemaphoreFiles {
  static constexpr VkObjectType kType = VK_OBJECT_TYPE_SEMAPHORE;
  static constexpr uint32_t kCopy = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT;
  static constexpr uint32_t kTemporary = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT;
  static constexpr auto kGet = &VolkDeviceTable::vkGetSemaphoreFdKHR;
  static constexpr auto kImport = &VolkDeviceTable::vkImportSemaphoreFdKHR;
  static uint64_t object_of(const auto& info) { return number_of(info.semaphore); }
};

struct FenceFiles {
  static constexpr VkObjectType kType = VK_OBJECT_TYPE_FENCE;
  static constexpr uint32_t kCopy = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT;
  static constexpr uint32_t kTemporary = VK_FENCE_IMPORT_TEMPORARY_BIT;
  static constexpr auto kGet = &VolkDeviceTable::vkGetFenceFdKHR;
  static constexpr auto kImport = &VolkDeviceTable::vkImportFenceFdKHR;
  static uint64_t object_of(const auto& info) { return number_of(info.fence); }
};

SyncFiles& sync_files() {
  static auto* const files = new SyncFiles;  // Threads may go on when the process ends.
  return *files;
}

template <typename Files, typename Info>
ShareSyncRecord share_record_of(const Info& info) {
  ShareSyncRecord record;
  record.object = Files::object_of(info);
  record.object_type = Files::kType;
  record.handle_type = info.handleType;
  return record;
}

// With a descriptor of its own each, but for one that is signalled.
template <typename Files, typename Info>
VKAPI_ATTR VkResult VKAPI_CALL get_file(VkDevice device, const Info* info, int* file) {
  const VkResult result = (device_of(device).next.*Files::kGet)(device, info, file);
  if (result != VK_SUCCESS) return result;
  ShareSyncRecord record = share_record_of<Files>(*info);
  record.is_signalled = *file < 0 ? 1 : 0;
  record.file = sync_files().keep(*file);
  log().append(record);
  return result;
}

template <typename Files, typename Info>
VKAPI_ATTR VkResult VKAPI_CALL import_file(VkDevice device, const Info* info) {
  Device& owner = device_of(device);
  ShareSyncRecord record = share_record_of<Files>(*info);
  record.is_import = 1;
  record.is_signalled = info->fd < 0 ? 1 : 0;
  // A copy lasts until it is waited for, or reset.
  const bool is_temporary =
      (info->flags & Files::kTemporary) != 0 || info->handleType == Files::kCopy;
  record.is_temporary = is_temporary ? 1 : 0;
  record.file = sync_files().find(info->fd);  // Who imports a descriptor gives it away.
  if (Files::kType == VK_OBJECT_TYPE_FENCE) owner.imported_fences = true;
  const VkResult result = (owner.next.*Files::kImport)(device, info);
  if (result == VK_SUCCESS) log().append(record);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL reset_fences(VkDevice device, uint32_t count,
                                            const VkFence* fences) {
  Device& owner = device_of(device);
  if (owner.imported_fences) {
    ResetFencesRecord record;
    for (uint32_t i = 0; i < count; ++i) record.fences.push_back(number_of(fences[i]));
    log().append(record);
  }
  return owner.next.vkResetFences(device, count, fences);
}

}  // namespace

std::span<const Intercepted> shared_sync_calls() {
  static const std::array kCalls = {
      Intercepted{"vkGetSemaphoreFdKHR",
                  as_function(get_file<SemaphoreFiles, VkSemaphoreGetFdInfoKHR>)},
      Intercepted{"vkImportSemaphoreFdKHR",
                  as_function(import_file<SemaphoreFiles, VkImportSemaphoreFdInfoKHR>)},
      Intercepted{"vkGetFenceFdKHR", as_function(get_file<FenceFiles, VkFenceGetFdInfoKHR>)},
      Intercepted{"vkImportFenceFdKHR",
                  as_function(import_file<FenceFiles, VkImportFenceFdInfoKHR>)},
      Intercepted{"vkResetFences", as_function(reset_fences)},
  };
  return kCalls;
}

}  // namespace interlock
