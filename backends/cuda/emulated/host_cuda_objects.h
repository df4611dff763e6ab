// What the handles of HostCudaRuntime lead to. For its own sources.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cuda/emulated/host_cuda_runtime.h"
#include "encoder/program/check.h"

namespace interlock {

template <typename Handle, typename Object>
void erase(std::vector<std::unique_ptr<Object>>& objects, Handle handle) {
  const size_t count = std::erase_if(objects, [&](const std::unique_ptr<Object>& object) {
    return reinterpret_cast<Handle>(object.get()) == handle;
  });
  INTERLOCK_CHECK(count == 1);
}

struct HostCudaRuntime::Work {
  std::function<CudaStatus(Work&)> body;
  std::vector<WorkHandle> predecessors;
  bool is_done = false;
  // While it executes.
  HostCudaRuntime* runtime = nullptr;
  std::unique_ptr<Fiber> fiber;
  CudaStatus status = CudaStatus::kSuccess;
};

struct HostCudaRuntime::GraphNode {
  std::vector<GraphNode*> predecessors;
  std::optional<DeviceLaunch> launch;
};

struct HostCudaRuntime::Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  // Of an executable.
  const Graph* source = nullptr;
  std::map<const GraphNode*, GraphNode*> copies;  // By node of the source.
  WorkHandle launched;                            // Its last launch.
};

struct HostCudaRuntime::Stream {
  CudaStreamKind kind = CudaStreamKind::kNonBlocking;
  std::vector<WorkHandle> last;  // What the next work comes after.
  bool is_captured = false;
  std::vector<GraphNode*> last_nodes;  // Likewise, while it is captured.
};

struct HostCudaRuntime::Event {
  std::vector<WorkHandle> recorded;
  bool is_captured = false;
  std::vector<GraphNode*> nodes;
};

}  // namespace interlock
