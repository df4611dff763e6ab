// Which dispatches come before which, by happens-before and by the graphs that are made of it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "backends/cuda/dispatch_graph.h"
#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"

namespace interlock {

using Relation = std::vector<std::vector<bool>>;  // [first][second]

inline Relation relation_of(const Program& program, const HappensBefore& order) {
  const size_t n = program.dispatches.size();
  Relation relation(n, std::vector<bool>(n));
  for (size_t first = 0; first < n; ++first) {
    for (size_t second = first + 1; second < n; ++second) {
      relation[first][second] = order.executes_before(DispatchId(first), DispatchId(second));
    }
  }
  return relation;
}

// The dispatches that precede `node`, given those that precede each earlier node.
using Set = std::vector<bool>;

inline void include(Set& set, const Set& other) {
  for (size_t i = 0; i < set.size(); ++i) set[i] = set[i] || other[i];
}

// Of the dispatches that are nodes.
inline Relation reachability(const Program& program, const DispatchGraph& graph) {
  const size_t n = program.dispatches.size();
  Relation relation(n, std::vector<bool>(n));
  std::vector<Set> behind;  // By node: what is over once it is, with itself.
  for (const DispatchGraph::Node& node : graph.nodes) {
    Set before(n);
    for (const GraphNodeIndex p : graph.predecessors_of(node)) include(before, behind.at(p));
    if (!node.is_join()) {
      for (size_t first = 0; first < n; ++first) {
        relation[first][node.dispatch.index] = before[first];
      }
      before[node.dispatch.index] = true;
    }
    behind.push_back(std::move(before));
  }
  return relation;
}

}  // namespace interlock
