// The basic idea is that asynchronous work is a graph in any case: work has predecessors, the last
// of its stream and what the stream waits for, and each may run once they have.
#include "tests/backends/cuda/host_cuda_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "encoder/program/check.h"
#include "tests/backends/cuda/host_cuda_kernels.h"
#include "tests/backends/cuda/host_cuda_objects.h"

namespace interlock {
namespace {

constexpr uint64_t kAlignmentBytes = 256;
}  // namespace

HostCudaRuntime::HostCudaRuntime(uint64_t seed) : choice_(seed) {}

HostCudaRuntime::~HostCudaRuntime() = default;

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

bool HostCudaRuntime::is_on_device(const void* address) const {
  const auto* const byte = static_cast<const uint8_t*>(address);
  return std::any_of(allocations_.begin(), allocations_.end(), [&](const auto& allocation) {
    return byte >= allocation.first && byte < allocation.first + allocation.second.first;
  });
}

void HostCudaRuntime::add_work(Stream& stream, std::function<CudaStatus()> body) {
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
  add_work(own, [destination, source, size_bytes, read] {
    std::memmove(destination, read ? read->data() : source, size_bytes);
    return CudaStatus::kSuccess;
  });
  return entered;
}

CudaStatus HostCudaRuntime::create_stream(CudaStream& stream) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  INTERLOCK_CHECK(captured_ == nullptr);
  stream = reinterpret_cast<CudaStream>(streams_.emplace_back(std::make_unique<Stream>()).get());
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

// Runs one piece of work that may run, any one.
CudaStatus HostCudaRuntime::progress(const WorkHandle& until) {
  if (until == nullptr || until->is_done) return CudaStatus::kSuccess;
  if (hangs_) return CudaStatus::kNotReady;
  std::vector<size_t> ready;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const auto& predecessors = pending_[i]->predecessors;
    if (std::all_of(predecessors.begin(), predecessors.end(),
                    [](const WorkHandle& work) { return work->is_done; })) {
      ready.push_back(i);
    }
  }
  INTERLOCK_CHECK(!ready.empty());
  const size_t chosen = ready[choice_.below(ready.size())];
  const WorkHandle work = pending_[chosen];
  pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(chosen));
  const CudaStatus status = work->body ? work->body() : CudaStatus::kSuccess;
  work->is_done = true;
  work->predecessors.clear();
  return status == CudaStatus::kSuccess ? CudaStatus::kNotReady : fail(status);
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
  const auto& recorded = *reinterpret_cast<Stream*>(stream);
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
    own.last_nodes.insert(own.last_nodes.end(), awaited.nodes.begin(), awaited.nodes.end());
  } else {
    INTERLOCK_CHECK(!own.is_captured);
    own.last.insert(own.last.end(), awaited.recorded.begin(), awaited.recorded.end());
  }
  return entered;
}

CudaStatus HostCudaRuntime::elapsed(CudaEvent, CudaEvent, double& seconds) {
  seconds = 1e-3;
  return enter();
}

CudaStatus HostCudaRuntime::run_kernel(const DeviceLaunch& launch) {
  launch_on_host(device_, choice_, launch);
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
    add_work(own, [this, launch] { return run_kernel(launch); });
  }
  return entered;
}

}  // namespace interlock
