#include "backends/cuda/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

// Powers of two, so that programs of other sizes find it large enough; but not where that is much.
uint64_t allocation_bytes(uint64_t size_bytes) {
  constexpr uint64_t kBytesMin = 64ull << 10;
  constexpr uint64_t kPowerBytesMax = 64ull << 20;
  if (size_bytes <= kPowerBytesMax) return std::max(kBytesMin, std::bit_ceil(size_bytes));
  return (size_bytes + kPowerBytesMax - 1) / kPowerBytesMax * kPowerBytesMax;
}

// "The CUDA device was lost while waiting for it (cudaErrorIllegalAddress: an illegal memory access
// was encountered)." `action`: what failed, e.g. "allocating 64 bytes". `text`: what the runtime
// says of the status. Requires: `status` is no success.
Error cuda_error(CudaStatus status, std::string_view action, std::string_view text) {
  std::string_view what = "The CUDA runtime failed";
  if (is_lost(status)) what = "The CUDA device was lost";
  if (status == CudaStatus::kTimeout) what = "The CUDA device does not answer";
  if (status == CudaStatus::kMemoryAllocation) what = "The CUDA device does not have enough memory";
  return error_of("{} while {} ({}).", what, action, text);
}

}  // namespace

Result<std::shared_ptr<CudaDevice>> CudaDevice::open(CudaRuntime& runtime, double timeout_seconds) {
  std::shared_ptr<CudaDevice> device(new CudaDevice(runtime, timeout_seconds));
  int count = 0;
  const CudaStatus counted = runtime.count_devices(count);
  if (counted != CudaStatus::kSuccess) {
    return error_of("there is no CUDA device ({}).", runtime.text_of(counted));
  }
  if (count == 0) return Error{"the CUDA driver has no device."};
  const CudaStatus opened = runtime.open_device(0, device->name_);
  if (opened != CudaStatus::kSuccess) {
    return error_of("the CUDA device does not open ({}).", runtime.text_of(opened));
  }
  return device;
}

CudaDevice::~CudaDevice() {
  if (lost_) return;
  // Nothing can be done about errors here.
  for (CudaStream stream : streams_) runtime_.destroy_stream(stream);
  for (CudaStream stream : blocking_streams_) runtime_.destroy_stream(stream);
  for (CudaEvent event : events_) runtime_.destroy_event(event);
  for (CudaEvent event : timed_events_) runtime_.destroy_event(event);
  for (const Allocation& allocation : allocations_) release(allocation);
}

Result<Success> CudaDevice::check(CudaStatus status, std::string_view action) {
  if (status == CudaStatus::kSuccess) return Success{};
  Error error = cuda_error(status, action, runtime_.text_of(status));
  if (is_lost(status)) lost_ = error;
  return error;
}

CudaStatus CudaDevice::release(const Allocation& allocation) {
  return allocation.is_shared ? runtime_.release_shared(allocation.memory)
                              : runtime_.release(allocation.memory);
}

Result<CudaStream> CudaDevice::stream(CudaStreamKind kind, uint32_t index) {
  if (kind == CudaStreamKind::kLegacy) {
    uses_legacy_stream_ = true;
    return runtime_.legacy_stream();
  }
  auto& streams = kind == CudaStreamKind::kNonBlocking ? streams_ : blocking_streams_;
  while (streams.size() <= index) {
    CudaStream stream = nullptr;
    auto created = check(runtime_.create_stream(kind, stream), "creating a stream");
    if (!created) return created.error();
    streams.push_back(stream);
  }
  return streams[index];
}

Result<CudaEvent> CudaDevice::event_of(std::vector<CudaEvent>& events, uint32_t index,
                                       bool has_time) {
  while (events.size() <= index) {
    CudaEvent event = nullptr;
    auto created = check(runtime_.create_event(has_time, event), "creating an event");
    if (!created) return created.error();
    events.push_back(event);
  }
  return events[index];
}

Result<CudaEvent> CudaDevice::event(uint32_t index) { return event_of(events_, index, false); }

Result<CudaEvent> CudaDevice::timed_event(uint32_t index) {
  return event_of(timed_events_, index, true);
}

Result<Success> CudaDevice::record(uint32_t event, uint32_t stream) {
  auto recorded = this->event(event);
  if (!recorded) return recorded.error();
  auto own = this->stream(stream);
  if (!own) return own.error();
  return check(runtime_.record(*recorded, *own), "recording an event");
}

Result<Success> CudaDevice::wait_for(uint32_t event, uint32_t stream) {
  auto awaited = this->event(event);
  if (!awaited) return awaited.error();
  auto own = this->stream(stream);
  if (!own) return own.error();
  return check(runtime_.wait(*own, *awaited), "ordering streams");
}

// Polls instead of blocking, because no call of CUDA that waits takes a time limit. Most waits are
// short, so it only sleeps once it has polled for a while.
template <typename Handle>
Result<Success> CudaDevice::poll(Handle handle) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (;;) {
    const CudaStatus status = runtime_.query(handle);
    if (status != CudaStatus::kNotReady) return check(status, "waiting for it");
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (waited.count() > timeout_seconds_) {
      lost_ = cuda_error(CudaStatus::kTimeout, "waiting for it",
                         fmt::format("for {} seconds", timeout_seconds_));
      return *lost_;
    }
    if (waited > std::chrono::microseconds(500)) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

Result<Success> CudaDevice::wait(CudaStream stream) { return poll(stream); }

Result<Success> CudaDevice::wait(CudaEvent event) { return poll(event); }

Result<Success> CudaDevice::wait_for_all() {
  for (const auto* streams : {&streams_, &blocking_streams_}) {
    for (CudaStream stream : *streams) {
      auto done = wait(stream);
      if (!done) return done;
    }
  }
  return uses_legacy_stream_ ? wait(runtime_.legacy_stream()) : Success{};
}

// The smallest free allocation that is large enough; else a new one instead of the free ones.
Result<uint8_t*> CudaDevice::take_memory(uint64_t size_bytes, bool is_shared) {
  Allocation* found = nullptr;
  for (Allocation& allocation : allocations_) {
    const bool is_usable = !allocation.is_taken && allocation.is_shared == is_shared;
    if (!is_usable || allocation.size_bytes < size_bytes) continue;
    if (found == nullptr || allocation.size_bytes < found->size_bytes) found = &allocation;
  }
  if (found != nullptr) {
    found->is_taken = true;
    return found->memory;
  }
  for (size_t i = allocations_.size(); i-- > 0;) {
    if (allocations_[i].is_taken) continue;
    auto released = check(release(allocations_[i]), "freeing memory");
    allocations_.erase(allocations_.begin() + static_cast<ptrdiff_t>(i));
    if (!released) return released.error();
  }
  const uint64_t rounded_bytes = allocation_bytes(size_bytes);
  uint8_t* memory = nullptr;
  auto allocated = check(is_shared ? runtime_.allocate_shared(rounded_bytes, memory)
                                   : runtime_.allocate(rounded_bytes, memory),
                         fmt::format("allocating {} bytes", rounded_bytes));
  if (!allocated) return allocated.error();
  allocations_.push_back({memory, rounded_bytes, is_shared, true});
  return memory;
}

void CudaDevice::give_memory_back(uint8_t* memory) {
  const auto found = std::ranges::find(allocations_, memory, &Allocation::memory);
  INTERLOCK_CHECK(found != allocations_.end() && found->is_taken);
  found->is_taken = false;
}

}  // namespace interlock
