// Issues lowered programs to the device: to one stream, to several, or into a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/device.h"
#include "backends/cuda/dispatch_graph.h"
#include "backends/cuda/graph_parts.h"
#include "backends/cuda/lowering.h"
#include "backends/cuda/stream_plan.h"

namespace interlock {

// A node of a graph, and the command that it launches, by its position in the list.
struct CommandNode {
  size_t command = 0;
  CudaGraphNode node = nullptr;
};

// A launch of a graph in place of dispatches. Plans name it by the first of them.
struct GraphLaunch {
  DispatchRange dispatches;
  CudaGraphExecutable executable = nullptr;
  std::vector<CommandNode> updates;  // Nodes that launch other commands than the last time.
};

// What all ways of issuing share.
struct Issuing {
  CudaDevice& device;
  const LoweredProgram& lowered;
  uint8_t* base = nullptr;  // Of the allocation.
  uint64_t seed = 0;
  uint64_t delay_ns = 0;  // Of every second dispatch, as the seed chooses; 0: of none.
  std::span<const GraphLaunch> graph_launches = {};  // In issue order.
};

// All commands, each after the one before it, on the first stream.
Result<Success> issue_list(const Issuing& issuing);

// The plan, between what is on the first stream and what comes next there. `is_captured`: the
// first stream captures.
Result<Success> issue_streams(const Issuing& issuing, const StreamPlan& plan, bool is_captured);

// Adds the launches to `graph`, which is empty. Returns their nodes, in the order of the commands.
Result<std::vector<CommandNode>> add_to_graph(const Issuing& issuing, const DispatchGraph& order,
                                              CudaGraphSource graph);

}  // namespace interlock
