// GraphParts: parts of a graph of dispatches that are launched on their own: what a part has in
// itself, and what is left around parts.
#pragma once

#include <span>
#include <vector>

#include "backends/cuda/dispatch_graph.h"

namespace interlock {

// Dispatches [begin, end), which follow one another in issue order. Not empty.
struct DispatchRange {
  DispatchId begin;
  DispatchId end;
};

class GraphParts {
 public:
  // Requires: `graph` outlives this. Cost: linear.
  explicit GraphParts(const DispatchGraph& graph);

  // Returns the graph of these dispatches alone: one is reachable from another iff it is in the
  // whole. Cost: linear in the part.
  DispatchGraph part(DispatchRange range) const;

  // Returns the graph in which each range is one node, of its first dispatch. What precedes any
  // dispatch of a range precedes the node, and what any precedes the node precedes; there is no
  // more order, and what that implies. Requires: `ranges` ascend and are disjoint.
  // Cost: near linear.
  DispatchGraph contracted(std::span<const DispatchRange> ranges) const;

 private:
  class Contraction;

  const DispatchGraph& graph_;
  std::vector<GraphNodeIndex> node_of_;   // By dispatch.
  std::vector<GraphNodeIndex> last_use_;  // By node: the last one that waits for it, maybe through
                                          // joins. 0: none.
};

}  // namespace interlock
