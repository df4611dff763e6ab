// The basic idea is that asynchronous work is a graph in any case: work has predecessors, the last
// of its stream and what the stream waits for, and each may run once they have.
#include "backends/cuda/emulated/host_cuda_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "backends/cuda/emulated/host_cuda_objects.h"
#include "backends/cuda/emulated/kernels.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr uint64_t kAlignmentBytes = 256;

// What is there already is not added: a stream that waits for an event of its own again and again
// would have twice as much each time.
template <typename Item>
void append_new(const std::vector<Item>& added, std::vector<Item>& items) {
  for (const Item& item : added) {
    if (std::ranges::find(items, item) == items.end()) items.push_back(item);
  }
}

}  // namespace

HostCudaRuntime::HostCudaRuntime(const HostCudaOptions& options)
    : options_(options), choice_(options.seed), legacy_(std::make_unique<Stream>()) {
  legacy_->kind = CudaStreamKind::kLegacy;
  constexpr uint64_t kPeriods[] = {2, 6, 20, 100};
  ahead_period_ = kPeriods[choice_.below(std::size(kPeriods))];
}

// What has begun ends: its stack has objects.
HostCudaRuntime::~HostCudaRuntime() {
  on_launch = nullptr;
  for (const WorkHandle& work : pending_) {
    while (work->fiber != nullptr && !work->fiber->is_done()) work->fiber->resume();
  }
}

size_t HostCudaRuntime::live_count() const {
  return allocations_.size() + streams_.size() + events_.size() + graphs_.size();
}

std::string HostCudaRuntime::text_of(CudaStatus status) const {
  return fmt::format("error {}", static_cast<int>(status));
}

CudaStatus HostCudaRuntime::fail(CudaStatus status) {
  ++failure_count_;
  if (is_lost(status)) sticky_ = status;
  return status;
}

CudaStatus HostCudaRuntime::enter() {
  const uint64_t call = call_count_++;
  if (sticky_ != CudaStatus::kSuccess) return fail(sticky_);
  if (failing_ && failing_->call == call) return fail(failing_->status);
  return run_ahead();
}

CudaStatus HostCudaRuntime::run_ahead() {
  while (options_.runs_ahead && choice_.chance(1, ahead_period_)) {
    const CudaStatus status = run_some_work();
    if (status != CudaStatus::kSuccess) return status;
  }
  return CudaStatus::kSuccess;
}

CudaStatus HostCudaRuntime::count_devices(int& count) {
  const CudaStatus entered = enter();
  if (entered == CudaStatus::kSuccess) count = 1;
  return entered;
}

CudaStatus HostCudaRuntime::open_device(int device, std::string& name) {
  INTERLOCK_CHECK(device == 0);
  name = "the host as a CUDA device";
  return enter();
}

CudaStatus HostCudaRuntime::allocate(uint64_t size_bytes, uint8_t*& memory) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  auto bytes = std::make_unique<uint8_t[]>(size_bytes + kAlignmentBytes);
  std::memset(bytes.get(), 0xcd, size_bytes + kAlignmentBytes);
  const auto address = reinterpret_cast<uintptr_t>(bytes.get());
  memory = bytes.get() + (kAlignmentBytes - address % kAlignmentBytes) % kAlignmentBytes;
  allocations_[memory] = {size_bytes, std::move(bytes)};
  return entered;
}

CudaStatus HostCudaRuntime::release(uint8_t* memory) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  INTERLOCK_CHECK(allocations_.erase(memory) == 1);
  return entered;
}

// All memory here is the host's.
CudaStatus HostCudaRuntime::allocate_shared(uint64_t size_bytes, uint8_t*& memory) {
  return allocate(size_bytes, memory);
}

CudaStatus HostCudaRuntime::release_shared(uint8_t* memory) { return release(memory); }

bool HostCudaRuntime::is_on_device(const void* address) const {
  const auto* const byte = static_cast<const uint8_t*>(address);
  return std::any_of(allocations_.begin(), allocations_.end(), [&](const auto& allocation) {
    return byte >= allocation.first && byte < allocation.first + allocation.second.first;
  });
}

// What the stream does next comes after all that it is joined to.
void HostCudaRuntime::join_blocking(Stream& stream) {
  const auto follow = [&](const Stream& other) { append_new(other.last, stream.last); };
  if (stream.kind == CudaStreamKind::kBlocking) follow(*legacy_);
  if (stream.kind != CudaStreamKind::kLegacy) return;
  for (const auto& other : streams_) {
    if (other->kind == CudaStreamKind::kBlocking) follow(*other);
  }
}

void HostCudaRuntime::add_work(Stream& stream, std::function<CudaStatus(Work&)> body) {
  join_blocking(stream);
  auto work = std::make_shared<Work>();
  work->body = std::move(body);
  work->predecessors = std::move(stream.last);
  stream.last = {work};
  pending_.push_back(std::move(work));
}

// What the host copies from is read at once, as CUDA does with memory that is not pinned.
CudaStatus HostCudaRuntime::copy(void* destination, const void* source, uint64_t size_bytes,
                                 CudaStream stream) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  auto& own = *reinterpret_cast<Stream*>(stream);
  INTERLOCK_CHECK(!own.is_captured);
  std::shared_ptr<std::vector<uint8_t>> read;
  if (!is_on_device(source)) {
    const auto* const bytes = static_cast<const uint8_t*>(source);
    read = std::make_shared<std::vector<uint8_t>>(bytes, bytes + size_bytes);
  }
  add_work(own, [destination, source, size_bytes, read](Work&) {
    std::memmove(destination, read ? read->data() : source, size_bytes);
    return CudaStatus::kSuccess;
  });
  return entered;
}

CudaStream HostCudaRuntime::legacy_stream() { return reinterpret_cast<CudaStream>(legacy_.get()); }

CudaStatus HostCudaRuntime::create_stream(CudaStreamKind kind, CudaStream& stream) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  INTERLOCK_CHECK(captured_ == nullptr);
  stream = reinterpret_cast<CudaStream>(streams_.emplace_back(std::make_unique<Stream>()).get());
  streams_.back()->kind = kind;
  return entered;
}

CudaStatus HostCudaRuntime::destroy_stream(CudaStream stream) {
  const CudaStatus entered = enter();
  if (entered == CudaStatus::kSuccess) erase(streams_, stream);
  return entered;
}

CudaStatus HostCudaRuntime::create_event(bool, CudaEvent& event) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  INTERLOCK_CHECK(captured_ == nullptr);
  event = reinterpret_cast<CudaEvent>(events_.emplace_back(std::make_unique<Event>()).get());
  return entered;
}

CudaStatus HostCudaRuntime::destroy_event(CudaEvent event) {
  const CudaStatus entered = enter();
  if (entered == CudaStatus::kSuccess) erase(events_, event);
  return entered;
}

CudaStatus HostCudaRuntime::progress(const WorkHandle& until) {
  if (until == nullptr || until->is_done) return CudaStatus::kSuccess;
  if (hangs_) return CudaStatus::kNotReady;
  const CudaStatus status = run_some_work();
  return status == CudaStatus::kSuccess ? CudaStatus::kNotReady : status;
}

// A part of one piece of work that may run or runs, any one.
CudaStatus HostCudaRuntime::run_some_work() {
  std::vector<size_t> ready;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const auto& predecessors = pending_[i]->predecessors;
    if (std::all_of(predecessors.begin(), predecessors.end(),
                    [](const WorkHandle& work) { return work->is_done; })) {
      ready.push_back(i);
    }
  }
  INTERLOCK_CHECK(!ready.empty() || pending_.empty());
  if (ready.empty()) return CudaStatus::kSuccess;
  const size_t chosen = ready[choice_.below(ready.size())];
  const WorkHandle work = pending_[chosen];
  const CudaStatus status = run_part(*work);
  if (!work->is_done) return CudaStatus::kSuccess;
  pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(chosen));
  work->predecessors.clear();
  return status == CudaStatus::kSuccess ? status : fail(status);
}

// Until it gives way or ends.
CudaStatus HostCudaRuntime::run_part(Work& work) {
  if (!work.body) {
    work.is_done = true;
    return CudaStatus::kSuccess;
  }
  if (work.fiber == nullptr) {
    if (idle_fibers_.empty()) {
      auto fiber = Fiber::create(fiber_switches().front());
      if (!fiber) return CudaStatus::kMemoryAllocation;
      idle_fibers_.push_back(std::move(*fiber));
    }
    work.fiber = std::move(idle_fibers_.back());
    idle_fibers_.pop_back();
    work.fiber->start(
        [](void* argument) {
          auto& own = *static_cast<Work*>(argument);
          own.status = own.body(own);
        },
        &work);
  }
  work.fiber->resume();
  if (!work.fiber->is_done()) return CudaStatus::kSuccess;
  idle_fibers_.push_back(std::move(work.fiber));
  work.is_done = true;
  return work.status;
}

CudaStatus HostCudaRuntime::query(CudaStream stream) {
  ++query_count_;
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  auto& own = *reinterpret_cast<Stream*>(stream);
  INTERLOCK_CHECK(captured_ == nullptr);
  for (const WorkHandle& work : own.last) {
    if (!work->is_done) return progress(work);
  }
  return CudaStatus::kSuccess;
}

CudaStatus HostCudaRuntime::query(CudaEvent event) {
  ++query_count_;
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  INTERLOCK_CHECK(captured_ == nullptr);
  for (const WorkHandle& work : reinterpret_cast<Event*>(event)->recorded) {
    if (!work->is_done) return progress(work);
  }
  return CudaStatus::kSuccess;
}

CudaStatus HostCudaRuntime::record(CudaEvent event, CudaStream stream) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  auto& own = *reinterpret_cast<Event*>(event);
  auto& recorded = *reinterpret_cast<Stream*>(stream);
  join_blocking(recorded);
  own.is_captured = recorded.is_captured;
  own.recorded = recorded.last;
  own.nodes = recorded.last_nodes;
  return entered;
}

CudaStatus HostCudaRuntime::wait(CudaStream stream, CudaEvent event) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  auto& own = *reinterpret_cast<Stream*>(stream);
  const auto& awaited = *reinterpret_cast<Event*>(event);
  if (awaited.is_captured) {
    INTERLOCK_CHECK(captured_ != nullptr);
    own.is_captured = true;
    append_new(awaited.nodes, own.last_nodes);
  } else {
    INTERLOCK_CHECK(!own.is_captured);
    append_new(awaited.recorded, own.last);
  }
  return entered;
}

CudaStatus HostCudaRuntime::elapsed(CudaEvent, CudaEvent, double& seconds) {
  seconds = 1e-3;
  return enter();
}

CudaStatus HostCudaRuntime::run_kernel(Work& work, const DeviceLaunch& launch) {
  std::unique_ptr<EmulatedDevice> device;
  if (idle_devices_.empty()) {
    device = std::make_unique<EmulatedDevice>();
  } else {
    device = std::move(idle_devices_.back());
    idle_devices_.pop_back();
  }
  const EmulatedLaunches launches{*device, choice_,
                                  std::min(launch.thread_count, options_.block_thread_count_max)};
  const LaunchResult launched = launch_in_turns(launches, launch, [&] { work.fiber->give_way(); });
  idle_devices_.push_back(std::move(device));
  if (!launched) {
    kernel_error_ = launched.error();
  } else if (*launched) {
    kernel_error_ =
        Error{"A kernel is wrong. " + interlock::text_of(**launched), ErrorKind::kFault};
  }
  if (kernel_error_) return CudaStatus::kLaunchFailure;
  return on_launch ? on_launch(launch) : CudaStatus::kSuccess;
}

CudaStatus HostCudaRuntime::launch(const DeviceLaunch& launch, CudaStream stream) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  auto& own = *reinterpret_cast<Stream*>(stream);
  ++counts_.launches;
  if (own.is_captured) {
    own.last_nodes = {add_node(*captured_, std::move(own.last_nodes), launch)};
  } else {
    add_work(own, [this, launch](Work& work) { return run_kernel(work, launch); });
  }
  return run_ahead();
}

}  // namespace interlock
