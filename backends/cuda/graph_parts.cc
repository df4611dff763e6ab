// The basic idea is that a range is contiguous in issue order, so that every path between two of
// its dispatches stays among the nodes between them. Joins there may stand for what is outside as
// well: a node for the whole range waits for all that they do, and they come after it.
#include "backends/cuda/graph_parts.h"

#include <algorithm>
#include <utility>

#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr GraphNodeIndex kNoNode = UINT32_MAX;

}  // namespace

GraphParts::GraphParts(const DispatchGraph& graph)
    : graph_(graph), last_use_(graph.nodes.size(), 0) {
  for (GraphNodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].is_join()) continue;
    INTERLOCK_CHECK(graph.nodes[i].dispatch.index == node_of_.size());
    node_of_.push_back(i);
  }
  for (GraphNodeIndex i = static_cast<GraphNodeIndex>(graph.nodes.size()); i-- > 0;) {
    const GraphNodeIndex use = graph.nodes[i].is_join() ? last_use_[i] : i;
    for (const GraphNodeIndex p : graph.predecessors_of(graph.nodes[i])) {
      last_use_[p] = std::max(last_use_[p], use);
    }
  }
}

DispatchGraph GraphParts::part(DispatchRange range) const {
  const GraphNodeIndex first = node_of_[range.begin.index];
  const GraphNodeIndex last = node_of_[range.end.index - 1];
  std::vector<GraphNodeIndex> kept(last - first + 1, kNoNode);  // By node from `first` on.
  DispatchGraph part;
  for (GraphNodeIndex i = first; i <= last; ++i) {
    const DispatchGraph::Node& node = graph_.nodes[i];
    std::vector<GraphNodeIndex> edges;
    for (const GraphNodeIndex p : graph_.predecessors_of(node)) {
      if (p >= first && kept[p - first] != kNoNode) edges.push_back(kept[p - first]);
    }
    if (node.is_join() && edges.empty()) continue;
    kept[i - first] = part.add_node(node.dispatch, edges);
  }
  return part;
}

class GraphParts::Contraction {
 public:
  explicit Contraction(const GraphParts& parts)
      : parts_(parts), graph_(parts.graph_), node_of_(graph_.nodes.size(), kNoNode) {}

  DispatchGraph contract(std::span<const DispatchRange> ranges) && {
    GraphNodeIndex next = 0;
    for (const DispatchRange& range : ranges) {
      const GraphNodeIndex first = parts_.node_of_[range.begin.index];
      const GraphNodeIndex last = parts_.node_of_[range.end.index - 1];
      INTERLOCK_CHECK(next <= first && first <= last);
      for (; next < first; ++next) copy(next);
      add_range(range, first, last);
      next = last + 1;
    }
    for (; next < graph_.nodes.size(); ++next) copy(next);
    return std::move(contracted_);
  }

 private:
  void copy(GraphNodeIndex i) {
    std::vector<GraphNodeIndex> edges;
    for (const GraphNodeIndex p : graph_.predecessors_of(graph_.nodes[i])) add_edge(p, edges);
    node_of_[i] = add(graph_.nodes[i].dispatch, std::move(edges));
  }

  void add_range(DispatchRange range, GraphNodeIndex first, GraphNodeIndex last) {
    std::vector<GraphNodeIndex> edges;
    std::vector<bool> is_awaited(last - first + 1, false);  // By a dispatch of the range.
    for (GraphNodeIndex i = last + 1; i-- > first;) {
      const DispatchGraph::Node& node = graph_.nodes[i];
      if (node.is_join() && !is_awaited[i - first]) continue;
      for (const GraphNodeIndex p : graph_.predecessors_of(node)) {
        if (p >= first) {
          is_awaited[p - first] = true;
        } else {
          add_edge(p, edges);
        }
      }
    }
    const GraphNodeIndex whole = add(range.begin, std::move(edges));
    for (GraphNodeIndex i = first; i <= last; ++i) {
      if (!graph_.nodes[i].is_join()) node_of_[i] = whole;
    }
    for (GraphNodeIndex i = first; i <= last; ++i) {
      if (graph_.nodes[i].is_join() && parts_.last_use_[i] > last) copy(i);
    }
  }

  void add_edge(GraphNodeIndex predecessor, std::vector<GraphNodeIndex>& edges) const {
    INTERLOCK_CHECK(node_of_[predecessor] != kNoNode);
    edges.push_back(node_of_[predecessor]);
  }

  GraphNodeIndex add(DispatchId dispatch, std::vector<GraphNodeIndex> edges) {
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return contracted_.add_node(dispatch, edges);
  }

  const GraphParts& parts_;
  const DispatchGraph& graph_;
  std::vector<GraphNodeIndex> node_of_;  // By node of graph_.
  DispatchGraph contracted_;
};

DispatchGraph GraphParts::contracted(std::span<const DispatchRange> ranges) const {
  return Contraction(*this).contract(ranges);
}

}  // namespace interlock
