// The basic idea is that asynchronous work is a graph in any case: work has predecessors, the last
// of its stream and what the stream waits for, and each may run once they have.
#include "tests/backends/host_cuda_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "encoder/check.h"
#include "tests/backends/host_cuda_kernels.h"

namespace interlock {
namespace {

constexpr uint64_t kAlignmentBytes = 256;
constexpr auto kUnjoinedCapture = static_cast<CudaStatus>(904);

template <typename Handle, typename Object>
void erase(std::vector<std::unique_ptr<Object>>& objects, Handle handle) {
  const size_t count = std::erase_if(objects, [&](const std::unique_ptr<Object>& object) {
    return reinterpret_cast<Handle>(object.get()) == handle;
  });
  INTERLOCK_CHECK(count == 1);
}

}  // namespace

struct HostCudaRuntime::Work {
  std::function<CudaStatus()> body;
  std::vector<WorkHandle> predecessors;
  bool is_done = false;
};

struct HostCudaRuntime::GraphNode {
  std::vector<GraphNode*> predecessors;
  std::optional<DeviceLaunch> launch;
};

struct HostCudaRuntime::Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
};

struct HostCudaRuntime::Stream {
  std::vector<WorkHandle> last;  // What the next work comes behind.
  bool is_captured = false;
  std::vector<GraphNode*> last_nodes;  // Likewise, while it is captured.
};

struct HostCudaRuntime::Event {
  std::vector<WorkHandle> recorded;
  bool is_captured = false;
  std::vector<GraphNode*> nodes;
};

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

CudaStatus HostCudaRuntime::open_device(int device, CudaDeviceInfo& info) {
  INTERLOCK_CHECK(device == 0);
  info.name = "the host as a CUDA device";
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
  if (own.is_captured) {
    own.last_nodes = {add_node(*captured_, std::move(own.last_nodes), launch)};
  } else {
    add_work(own, [this, launch] { return run_kernel(launch); });
  }
  return entered;
}

CudaStatus HostCudaRuntime::begin_capture(CudaStream stream) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  INTERLOCK_CHECK(captured_ == nullptr);
  captured_ = graphs_.emplace_back(std::make_unique<Graph>()).get();
  reinterpret_cast<Stream*>(stream)->is_captured = true;
  return entered;
}

CudaStatus HostCudaRuntime::end_capture(CudaStream stream, CudaGraphSource& graph) {
  INTERLOCK_CHECK(captured_ != nullptr);
  Graph* const captured = std::exchange(captured_, nullptr);
  // Every node has to lead to the stream that began.
  std::vector<GraphNode*> joined = reinterpret_cast<Stream*>(stream)->last_nodes;
  for (size_t i = 0; i < joined.size(); ++i) {
    for (GraphNode* node : joined[i]->predecessors) {
      if (std::find(joined.begin(), joined.end(), node) == joined.end()) joined.push_back(node);
    }
  }
  std::sort(joined.begin(), joined.end());
  joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
  for (const auto& own : streams_) {
    own->is_captured = false;
    own->last_nodes.clear();
  }
  const CudaStatus entered = enter();
  const bool is_joined = joined.size() == captured->nodes.size();
  if (entered != CudaStatus::kSuccess || !is_joined) {
    erase(graphs_, captured);
    return entered != CudaStatus::kSuccess ? entered : fail(kUnjoinedCapture);
  }
  graph = reinterpret_cast<CudaGraphSource>(captured);
  return entered;
}

CudaStatus HostCudaRuntime::create_graph(CudaGraphSource& graph) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  graph = reinterpret_cast<CudaGraphSource>(graphs_.emplace_back(std::make_unique<Graph>()).get());
  return entered;
}

CudaStatus HostCudaRuntime::destroy_graph(CudaGraphSource graph) {
  const CudaStatus entered = enter();
  if (entered == CudaStatus::kSuccess) erase(graphs_, graph);
  return entered;
}

HostCudaRuntime::GraphNode* HostCudaRuntime::add_node(Graph& graph,
                                                      std::vector<GraphNode*> predecessors,
                                                      std::optional<DeviceLaunch> launch) {
  auto node = std::make_unique<GraphNode>();
  node->predecessors = std::move(predecessors);
  node->launch = launch;
  return graph.nodes.emplace_back(std::move(node)).get();
}

CudaStatus HostCudaRuntime::add_launch(CudaGraphSource graph,
                                       std::span<const CudaGraphNode> predecessors,
                                       const DeviceLaunch& launch, CudaGraphNode& node) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  std::vector<GraphNode*> nodes;
  for (const CudaGraphNode p : predecessors) nodes.push_back(reinterpret_cast<GraphNode*>(p));
  auto& own = *reinterpret_cast<Graph*>(graph);
  node = reinterpret_cast<CudaGraphNode>(add_node(own, std::move(nodes), launch));
  return entered;
}

CudaStatus HostCudaRuntime::add_join(CudaGraphSource graph,
                                     std::span<const CudaGraphNode> predecessors,
                                     CudaGraphNode& node) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  std::vector<GraphNode*> nodes;
  for (const CudaGraphNode p : predecessors) nodes.push_back(reinterpret_cast<GraphNode*>(p));
  auto& own = *reinterpret_cast<Graph*>(graph);
  node = reinterpret_cast<CudaGraphNode>(add_node(own, std::move(nodes), std::nullopt));
  return entered;
}

CudaStatus HostCudaRuntime::instantiate(CudaGraphSource graph, CudaGraphExecutable& executable) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  auto copied = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> copies;
  for (const auto& node : reinterpret_cast<Graph*>(graph)->nodes) {
    std::vector<GraphNode*> predecessors;
    for (const GraphNode* p : node->predecessors) predecessors.push_back(copies.at(p));
    copies[node.get()] = add_node(*copied, std::move(predecessors), node->launch);
  }
  executable = reinterpret_cast<CudaGraphExecutable>(graphs_.emplace_back(std::move(copied)).get());
  return entered;
}

CudaStatus HostCudaRuntime::launch(CudaGraphExecutable executable, CudaStream stream) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  auto& own = *reinterpret_cast<Stream*>(stream);
  INTERLOCK_CHECK(!own.is_captured);
  std::map<const GraphNode*, WorkHandle> works;
  auto last = std::make_shared<Work>();
  last->predecessors = own.last;
  for (const auto& node : reinterpret_cast<Graph*>(executable)->nodes) {
    auto work = std::make_shared<Work>();
    work->predecessors = own.last;
    for (const GraphNode* p : node->predecessors) work->predecessors.push_back(works.at(p));
    if (node->launch) {
      work->body = [this, launch = *node->launch] { return run_kernel(launch); };
    }
    works[node.get()] = work;
    last->predecessors.push_back(work);
    pending_.push_back(std::move(work));
  }
  own.last = {last};
  pending_.push_back(std::move(last));
  return entered;
}

CudaStatus HostCudaRuntime::destroy_executable(CudaGraphExecutable executable) {
  const CudaStatus entered = enter();
  if (entered == CudaStatus::kSuccess) erase(graphs_, executable);
  return entered;
}

}  // namespace interlock
