// Records about submissions, and about what the host knows of them. Handles and flags as in
// object_records.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/log/record_kind.h"

namespace interlock {

// One semaphore of a batch.
struct SemaphoreUseFields {
  uint64_t semaphore = 0;
  uint64_t value = 0;  // Of a timeline.
  uint64_t stages = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.semaphore, self.value, self.stages);
  }
};

// VkSubmitInfo2.
struct BatchFields {
  std::vector<SemaphoreUseFields> waits;
  std::vector<uint64_t> commands;
  std::vector<SemaphoreUseFields> signals;

  static void each_field(auto& self, auto& fields) {
    fields(self.waits, self.commands, self.signals);
  }
};

// Written before the call, so that what another thread learns of it comes later.
struct SubmitRecord {
  static constexpr RecordKind kKind = RecordKind::kSubmit;
  uint64_t queue = 0;
  uint64_t fence = 0;
  std::vector<BatchFields> batches;

  static void each_field(auto& self, auto& fields) { fields(self.queue, self.fence, self.batches); }
};

struct CreateSemaphoreRecord {
  static constexpr RecordKind kKind = RecordKind::kCreateSemaphore;
  uint64_t semaphore = 0;
  uint32_t is_timeline = 0;
  uint64_t initial = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.semaphore, self.is_timeline, self.initial);
  }
};

// A semaphore or a fence was exported as a file descriptor, or imported from one.
struct ShareSyncRecord {
  static constexpr RecordKind kKind = RecordKind::kShareSync;
  uint64_t object = 0;
  uint32_t object_type = 0;  // VkObjectType.
  uint32_t is_import = 0;
  uint32_t handle_type = 0;   // VkExternalSemaphoreHandleTypeFlagBits, or that of fences.
  uint32_t is_temporary = 0;  // What is imported lasts until a wait for it.
  uint32_t is_signalled = 0;  // There was no descriptor, which means so.
  // The same for one open file, and for no two of this log; 0: it is not known which it is.
  uint64_t file = 0;

  static void each_field(auto& self, auto& fields) {
    fields(self.object, self.object_type, self.is_import, self.handle_type, self.is_temporary,
           self.is_signalled, self.file);
  }
};

// Written before the call, of a device that has imported a fence: what lasts until then ends.
struct ResetFencesRecord {
  static constexpr RecordKind kKind = RecordKind::kResetFences;
  std::vector<uint64_t> fences;

  static void each_field(auto& self, auto& fields) { fields(self.fences); }
};

// The host sets an event, or resets it. Written before the call.
struct HostEventRecord {
  static constexpr RecordKind kKind = RecordKind::kHostEvent;
  uint64_t event = 0;
  uint32_t is_set = 0;

  static void each_field(auto& self, auto& fields) { fields(self.event, self.is_set); }
};

// The host knows that these are signalled: it waited, or asked.
struct FenceReachedRecord {
  static constexpr RecordKind kKind = RecordKind::kFenceReached;
  std::vector<uint64_t> fences;

  static void each_field(auto& self, auto& fields) { fields(self.fences); }
};

struct SemaphoreReachedRecord {
  static constexpr RecordKind kKind = RecordKind::kSemaphoreReached;
  uint64_t semaphore = 0;
  uint64_t value = 0;

  static void each_field(auto& self, auto& fields) { fields(self.semaphore, self.value); }
};

// Written before the call.
struct HostSignalRecord {
  static constexpr RecordKind kKind = RecordKind::kHostSignal;
  uint64_t semaphore = 0;
  uint64_t value = 0;

  static void each_field(auto& self, auto& fields) { fields(self.semaphore, self.value); }
};

struct WaitIdleRecord {
  static constexpr RecordKind kKind = RecordKind::kWaitIdle;
  uint64_t device = 0;  // Or the queue.
  uint64_t queue = 0;

  static void each_field(auto& self, auto& fields) { fields(self.device, self.queue); }
};

// An image of a swapchain: by its position there.
struct PresentableFields {
  uint64_t swapchain = 0;
  uint32_t index = 0;

  static void each_field(auto& self, auto& fields) { fields(self.swapchain, self.index); }
};

// Those of a swapchain, in their order.
struct SwapchainImagesRecord {
  static constexpr RecordKind kKind = RecordKind::kSwapchainImages;
  uint64_t swapchain = 0;
  std::vector<uint64_t> images;

  static void each_field(auto& self, auto& fields) { fields(self.swapchain, self.images); }
};

// An image was acquired: who presented it last signals these when it is read.
struct AcquireRecord {
  static constexpr RecordKind kKind = RecordKind::kAcquire;
  uint64_t semaphore = 0;
  uint64_t fence = 0;
  PresentableFields image;

  static void each_field(auto& self, auto& fields) {
    fields(self.semaphore, self.fence, self.image);
  }
};

struct PresentRecord {
  static constexpr RecordKind kKind = RecordKind::kPresent;
  uint64_t queue = 0;
  std::vector<uint64_t> semaphores;
  std::vector<PresentableFields> images;

  static void each_field(auto& self, auto& fields) {
    fields(self.queue, self.semaphores, self.images);
  }
};

// The last call of this name did not succeed: VkResult.
struct ResultRecord {
  static constexpr RecordKind kKind = RecordKind::kResult;
  std::string name;
  int32_t result = 0;
  uint64_t queue = 0;

  static void each_field(auto& self, auto& fields) { fields(self.name, self.result, self.queue); }
};

}  // namespace interlock
