// Graphs of the host as a CUDA device: stream capture, nodes, executables and their launches.
#include <algorithm>
#include <utility>

#include "backends/cuda/emulated/host_cuda_objects.h"
#include "backends/cuda/emulated/host_cuda_runtime.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr auto kUnjoinedCapture = static_cast<CudaStatus>(904);

}  // namespace

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
  ++counts_.instantiations;
  auto copied = std::make_unique<Graph>();
  copied->source = reinterpret_cast<Graph*>(graph);
  for (const auto& node : copied->source->nodes) {
    std::vector<GraphNode*> predecessors;
    for (const GraphNode* p : node->predecessors) predecessors.push_back(copied->copies.at(p));
    copied->copies[node.get()] = add_node(*copied, std::move(predecessors), node->launch);
  }
  executable = reinterpret_cast<CudaGraphExecutable>(graphs_.emplace_back(std::move(copied)).get());
  return entered;
}

CudaStatus HostCudaRuntime::launch(CudaGraphExecutable executable, CudaStream stream) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  auto& own = *reinterpret_cast<Stream*>(stream);
  INTERLOCK_CHECK(!own.is_captured);
  ++counts_.graph_launches;
  auto& graph = *reinterpret_cast<Graph*>(executable);
  join_blocking(own);
  if (graph.launched != nullptr) own.last.push_back(graph.launched);
  std::map<const GraphNode*, WorkHandle> works;
  auto last = std::make_shared<Work>();
  last->predecessors = own.last;
  for (const auto& node : graph.nodes) {
    auto work = std::make_shared<Work>();
    work->predecessors = own.last;
    for (const GraphNode* p : node->predecessors) work->predecessors.push_back(works.at(p));
    if (node->launch) {
      work->body = [this, launch = *node->launch](Work& own_work) {
        return run_kernel(own_work, launch);
      };
    }
    works[node.get()] = work;
    last->predecessors.push_back(work);
    pending_.push_back(std::move(work));
  }
  own.last = {last};
  graph.launched = last;
  pending_.push_back(std::move(last));
  return run_ahead();
}

CudaStatus HostCudaRuntime::update(CudaGraphExecutable executable, CudaGraphNode node,
                                   const DeviceLaunch& launch) {
  const CudaStatus entered = enter();
  if (entered != CudaStatus::kSuccess) return entered;
  ++counts_.updates;
  auto& graph = *reinterpret_cast<Graph*>(executable);
  INTERLOCK_CHECK(std::any_of(graphs_.begin(), graphs_.end(),
                              [&](const auto& live) { return live.get() == graph.source; }));
  std::optional<DeviceLaunch>& copy = graph.copies.at(reinterpret_cast<GraphNode*>(node))->launch;
  INTERLOCK_CHECK(copy->function == launch.function && copy->kernel == launch.kernel);
  copy = launch;
  return entered;
}

CudaStatus HostCudaRuntime::destroy_executable(CudaGraphExecutable executable) {
  const CudaStatus entered = enter();
  if (entered == CudaStatus::kSuccess) erase(graphs_, executable);
  return entered;
}

}  // namespace interlock
