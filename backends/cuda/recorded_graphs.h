// RecordedGraphs: the graphs of a recording, each instantiated once, and where they are launched in
// place of dispatches. A replay is a launch of the graph of its capture.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/graph_parts.h"
#include "backends/cuda/issuing.h"
#include "backends/cuda/stream_plan.h"
#include "backends/interface/poison.h"

namespace interlock {

// A replay that is a launch of the graph of its capture.
struct GraphReplay {
  CaptureId capture;
  DispatchRange dispatches;
};

// Returns the replays of the program, in issue order, but not those that execute nothing, and not
// those that find poison: a backend issues it in front of a dispatch, and no capture has it.
std::vector<GraphReplay> graph_replays_of(const Program& program, const Poison& poison);

class RecordedGraphs {
 public:
  explicit RecordedGraphs(std::shared_ptr<CudaDevice> device) : device_(std::move(device)) {}
  ~RecordedGraphs();  // Requires: none of the graphs executes.
  RecordedGraphs(const RecordedGraphs&) = delete;
  RecordedGraphs& operator=(const RecordedGraphs&) = delete;

  // Each adds a launch, after those in front of it in issue order. Errors: as CUDA's.

  // Of a graph of these dispatches, in the order `whole` has among them.
  Result<Success> add(const Issuing& issuing, DispatchRange range, const GraphParts& whole);
  // Of the graph that stream capture makes of this plan of them.
  Result<Success> add_captured(const Issuing& issuing, DispatchRange range, const StreamPlan& plan);
  // Of the graph of a capture, which its first replay here makes. It has frozen what a capture
  // freezes: order, functions, grids, addresses and attributes. The others update only what tells
  // two mixes apart: their identity, and where they add up their digest.
  Result<Success> add_replay(const Issuing& issuing, const GraphReplay& replay,
                             const GraphParts& whole);

  std::span<const GraphLaunch> launches() const { return launches_; }

 private:
  struct Graph {
    CudaGraphSource source = nullptr;
    CudaGraphExecutable executable = nullptr;
  };
  struct CapturedGraph {
    CudaGraphExecutable executable = nullptr;
    std::vector<CommandNode> nodes;
    size_t first_launch = 0;  // Into launches_.
  };

  Result<std::vector<CommandNode>> build(const Issuing& issuing, const DispatchGraph& order);
  Result<Success> instantiate();
  // Of the last graph, whose source it needs no more.
  Result<Success> launch_once(DispatchRange range);
  std::vector<CommandNode> updates_of(const LoweredProgram& lowered, const CapturedGraph& graph,
                                      DispatchRange range) const;

  std::shared_ptr<CudaDevice> device_;
  std::vector<Graph> graphs_;
  std::map<CaptureId, CapturedGraph> captured_;
  std::vector<GraphLaunch> launches_;
};

}  // namespace interlock
