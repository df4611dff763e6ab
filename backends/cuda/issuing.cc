#include "backends/cuda/issuing.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"

namespace interlock {
namespace {

// The host waits before a queue of CUDA is full: a launch that finds it full blocks without a time
// limit. Each stream has two events, and is at most two windows ahead of the device.
class IssueWindows {
 public:
  // Numbers of events from `first_event` on are free.
  IssueWindows(CudaDevice& device, uint32_t stream_count, uint32_t first_event)
      : device_(device), counts_(stream_count), first_event_(first_event) {}

  Result<Success> count_launch(uint32_t stream) {
    if (++counts_[stream] % kWindowLaunches != 0) return Success{};
    const uint32_t window = counts_[stream] / kWindowLaunches;
    auto recorded = device_.record(first_event_ + 2 * stream + window % 2, stream);
    if (!recorded || window == 1) return recorded;
    auto previous = device_.event(first_event_ + 2 * stream + (window + 1) % 2);
    if (!previous) return previous.error();
    return device_.wait(*previous);
  }

 private:
  static constexpr uint32_t kWindowLaunches = 128;

  CudaDevice& device_;
  std::vector<uint32_t> counts_;
  uint32_t first_event_;
};

DeviceLaunch delay_of(uint64_t delay_ns) {
  return {.function = DeviceFunction::kDelay, .delay_ns = delay_ns};
}

bool is_delayed(const Issuing& issuing, DispatchId dispatch) {
  return issuing.delay_ns > 0 && splitmix64(issuing.seed * kGolden64 + dispatch.index) % 2 == 0;
}

Result<Success> launch(const Issuing& issuing, const DeviceLaunch& launch, CudaStream stream) {
  return issuing.device.check(issuing.device.runtime().launch(launch, stream),
                              "launching a kernel");
}

const GraphLaunch* graph_launch_at(const Issuing& issuing, DispatchId first) {
  const auto found = std::ranges::lower_bound(
      issuing.graph_launches, first, {}, [](const GraphLaunch& g) { return g.dispatches.begin; });
  const bool is_there = found != issuing.graph_launches.end() && found->dispatches.begin == first;
  return is_there ? &*found : nullptr;
}

// Updates concern this launch and later ones; one that executes still is as it was.
Result<Success> launch(const Issuing& issuing, const GraphLaunch& graph, CudaStream stream) {
  CudaDevice& device = issuing.device;
  const CudaCommandList& list = issuing.lowered.list;
  for (const CommandNode& update : graph.updates) {
    const DeviceLaunch launch = list.resolved(list.commands()[update.command], issuing.base);
    auto updated = device.check(device.runtime().update(graph.executable, update.node, launch),
                                "updating a graph");
    if (!updated) return updated;
  }
  return device.check(device.runtime().launch(graph.executable, stream), "launching a graph");
}

Result<Success> issue_command(const Issuing& issuing, const CudaCommand& command,
                              CudaStream stream) {
  if (command.kind == CudaCommand::Kind::kLaunch) {
    return launch(issuing, issuing.lowered.list.resolved(command, issuing.base), stream);
  }
  CudaDevice& device = issuing.device;
  return device.check(device.runtime().copy(issuing.base + command.destination.offset_bytes,
                                            issuing.base + command.source.offset_bytes,
                                            command.source.size_bytes, stream),
                      "copying within the device");
}

class StreamIssue {
 public:
  StreamIssue(const Issuing& issuing, const StreamPlan& plan, bool is_captured)
      : issuing_(issuing),
        plan_(plan),
        is_captured_(is_captured),
        windows_(issuing.device, plan.stream_count, plan.event_count + 1) {}

  Result<Success> issue() {
    auto begun = fork();
    if (!begun) return begun;
    for (const StreamAction& action : plan_.actions) {
      auto issued = issue(action);
      if (!issued) return issued;
    }
    return join();
  }

 private:
  // With delays, the streams wait for each other at the start as well: then what the host issues
  // first has no head start.
  Result<Success> fork() {
    if (issuing_.delay_ns > 0 && !is_captured_) {
      auto stream = issuing_.device.stream(0);
      if (!stream) return stream.error();
      auto launched = launch(issuing_, delay_of(issuing_.delay_ns), *stream);
      if (!launched) return launched;
    }
    if (plan_.stream_count < 2) return Success{};
    auto recorded = issuing_.device.record(plan_.event_count, 0);
    for (uint32_t s = 1; recorded && s < plan_.stream_count; ++s) {
      recorded = issuing_.device.wait_for(plan_.event_count, s);
    }
    return recorded;
  }

  Result<Success> join() {
    for (uint32_t s = 1; s < plan_.stream_count; ++s) {
      auto joined = issuing_.device.record(plan_.event_count, s);
      if (joined) joined = issuing_.device.wait_for(plan_.event_count, 0);
      if (!joined) return joined;
    }
    return Success{};
  }

  Result<Success> issue(const StreamAction& action) {
    switch (action.kind) {
      case StreamAction::Kind::kRecord:
        return issuing_.device.record(action.index, action.stream);
      case StreamAction::Kind::kWait:
        return issuing_.device.wait_for(action.index, action.stream);
      case StreamAction::Kind::kLaunch:
        break;
    }
    auto stream = issuing_.device.stream(action.stream);
    if (!stream) return stream.error();
    const DispatchId dispatch(action.index);
    if (const GraphLaunch* graph = graph_launch_at(issuing_, dispatch)) {
      auto launched = launch(issuing_, *graph, *stream);
      return launched ? windows_.count_launch(action.stream) : launched;
    }
    if (is_delayed(issuing_, dispatch)) {
      auto delayed = launch(issuing_, delay_of(issuing_.delay_ns), *stream);
      if (delayed && !is_captured_) delayed = windows_.count_launch(action.stream);
      if (!delayed) return delayed;
    }
    const CommandSpan span = issuing_.lowered.dispatches[dispatch.index];
    for (size_t i = span.begin; i < span.end; ++i) {
      auto issued = issue_command(issuing_, issuing_.lowered.list.commands()[i], *stream);
      if (issued && !is_captured_) issued = windows_.count_launch(action.stream);
      if (!issued) return issued;
    }
    return Success{};
  }

  const Issuing& issuing_;
  const StreamPlan& plan_;
  bool is_captured_;
  IssueWindows windows_;
};

}  // namespace

Result<Success> issue_list(const Issuing& issuing) {
  auto stream = issuing.device.stream(0);
  if (!stream) return stream.error();
  IssueWindows windows(issuing.device, 1, 0);
  for (const CudaCommand& command : issuing.lowered.list.commands()) {
    auto issued = issue_command(issuing, command, *stream);
    if (issued) issued = windows.count_launch(0);
    if (!issued) return issued;
  }
  return Success{};
}

Result<Success> issue_streams(const Issuing& issuing, const StreamPlan& plan, bool is_captured) {
  return StreamIssue(issuing, plan, is_captured).issue();
}

Result<std::vector<CommandNode>> add_to_graph(const Issuing& issuing, const DispatchGraph& order,
                                              CudaGraphSource graph) {
  CudaDevice& device = issuing.device;
  std::vector<CommandNode> command_nodes;
  std::vector<CudaGraphNode> node_of;  // By node of the order: its last one in the graph.
  for (const DispatchGraph::Node& node : order.nodes) {
    std::vector<CudaGraphNode> predecessors;
    for (const GraphNodeIndex p : order.predecessors_of(node)) predecessors.push_back(node_of[p]);
    CudaGraphNode last = nullptr;
    if (node.is_join()) {
      auto added = device.check(device.runtime().add_join(graph, predecessors, last),
                                "adding a join to a graph");
      if (!added) return added.error();
      node_of.push_back(last);
      continue;
    }
    const auto add = [&](const DeviceLaunch& launch) {
      auto added = device.check(device.runtime().add_launch(graph, predecessors, launch, last),
                                "adding a kernel to a graph");
      predecessors = {last};
      return added;
    };
    if (is_delayed(issuing, node.dispatch)) {
      auto delayed = add(delay_of(issuing.delay_ns));
      if (!delayed) return delayed.error();
    }
    const CommandSpan span = issuing.lowered.dispatches[node.dispatch.index];
    for (size_t i = span.begin; i < span.end; ++i) {
      const CudaCommand& command = issuing.lowered.list.commands()[i];
      INTERLOCK_CHECK(command.kind == CudaCommand::Kind::kLaunch);
      auto added = add(issuing.lowered.list.resolved(command, issuing.base));
      if (!added) return added.error();
      command_nodes.push_back({i, last});
    }
    node_of.push_back(last);
  }
  return command_nodes;
}

}  // namespace interlock
