// DispatchGraph: the order that a program's sync leaves among its dispatches, as a graph of
// launches: a node per dispatch, and joins, which execute nothing and stand for "all of these".
// Without joins a barrier between n and m dispatches is n*m edges; with one it is n + m.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"

namespace interlock {

using GraphNodeIndex = uint32_t;

struct DispatchGraph {
  struct Node {
    DispatchId dispatch;      // None: a join.
    uint32_t first_edge = 0;  // Into `predecessors`.
    uint32_t edge_count = 0;

    bool is_join() const { return !dispatch.is_some(); }
  };

  std::vector<Node> nodes;  // Predecessors come first; dispatches in issue order.
  std::vector<GraphNodeIndex> predecessors;

  std::span<const GraphNodeIndex> predecessors_of(const Node& node) const {
    return std::span(predecessors).subspan(node.first_edge, node.edge_count);
  }

  GraphNodeIndex add_node(DispatchId dispatch, std::span<const GraphNodeIndex> edges) {
    nodes.push_back({dispatch, static_cast<uint32_t>(predecessors.size()),
                     static_cast<uint32_t>(edges.size())});
    predecessors.insert(predecessors.end(), edges.begin(), edges.end());
    return static_cast<GraphNodeIndex>(nodes.size() - 1);
  }
};

// Returns the graph in which one dispatch is reachable from another iff `order` has it execute
// before the other, no more and no less.
// Requires: `order` was built from `program`.
// Cost: linear, and so are the edges.
DispatchGraph graph_of(const Program& program, const HappensBefore& order);

// Returns the graph of all dispatches in issue order, one after the other.
DispatchGraph chain_of(const Program& program);

}  // namespace interlock
