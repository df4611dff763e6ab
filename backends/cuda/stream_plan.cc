// The basic idea is a vector clock per node: how much of each stream is over before the node
// starts. It says which streams the node may continue without more order than the graph has, and
// which waits are already implied.
#include "backends/cuda/stream_plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"

namespace interlock {
namespace {

// By stream: how many of its nodes are over. Streams past the end: none.
using StreamClock = std::vector<uint32_t>;

void raise(StreamClock& clock, const StreamClock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (size_t s = 0; s < other.size(); ++s) clock[s] = std::max(clock[s], other[s]);
}

class StreamPlanner {
 public:
  StreamPlanner(const DispatchGraph& graph, uint32_t stream_count, uint64_t seed)
      : graph_(graph), stream_count_max_(stream_count), seed_(seed), nodes_(graph.nodes.size()) {
    uses_.resize(graph.nodes.size());
    for (const GraphNodeIndex predecessor : graph.predecessors) ++uses_[predecessor];
  }

  StreamPlan plan() && {
    for (GraphNodeIndex i = 0; i < graph_.nodes.size(); ++i) place(i);
    plan_.stream_count = static_cast<uint32_t>(streams_.size());
    return std::move(plan_);
  }

 private:
  struct Stream {
    uint32_t length = 0;         // Nodes so far.
    bool takes_launches = true;  // Else it is for joins alone.
    StreamClock clock;           // Before what comes next on it.
  };
  struct PlacedNode {
    uint32_t stream = 0;
    uint32_t position = 0;  // In its stream, from 1 on.
    uint32_t event = UINT32_MAX;
    StreamClock clock;  // After the node: with itself.
  };

  void place(GraphNodeIndex index) {
    const DispatchGraph::Node& node = graph_.nodes[index];
    StreamClock before;
    for (const GraphNodeIndex p : graph_.predecessors_of(node)) raise(before, nodes_[p].clock);
    const uint32_t s = choose_stream(node, before);
    add_waits(graph_.predecessors_of(node), s);
    Stream& stream = streams_[s];
    if (!node.is_join()) add({StreamAction::Kind::kLaunch, s, node.dispatch.index});
    if (stream.clock.size() <= s) stream.clock.resize(s + 1);
    stream.clock[s] = ++stream.length;
    nodes_[index].stream = s;
    nodes_[index].position = stream.length;
    if (uses_[index] > 0) {
      nodes_[index].clock = stream.clock;
      nodes_[index].event = plan_.event_count++;
      add({StreamAction::Kind::kRecord, s, nodes_[index].event});
    }
  }

  // All of the stream is over before a node of this clock.
  bool precedes(const Stream& stream, size_t s, const StreamClock& before) const {
    return stream.length == 0 || (s < before.size() && before[s] == stream.length);
  }

  uint32_t choose_stream(const DispatchGraph::Node& node, const StreamClock& before) {
    std::vector<uint32_t> usable;
    uint32_t launch_stream_count = 0;
    for (size_t s = 0; s < streams_.size(); ++s) {
      const Stream& stream = streams_[s];
      launch_stream_count += stream.takes_launches;
      const bool takes = stream.takes_launches || node.is_join();
      if (takes && precedes(stream, s, before)) usable.push_back(static_cast<uint32_t>(s));
    }
    const uint64_t random = splitmix64(seed_ + plan_.actions.size()) >> 32;
    if (!usable.empty()) {
      return node.is_join() ? usable.front() : usable[random % usable.size()];
    }
    if (node.is_join() || launch_stream_count < stream_count_max_) {
      streams_.push_back({.takes_launches = !node.is_join()});
      return static_cast<uint32_t>(streams_.size() - 1);
    }
    return nth_launch_stream(random % launch_stream_count);
  }

  // Requires: more than `n` streams take launches.
  uint32_t nth_launch_stream(uint64_t n) const {
    for (uint32_t s = 0;; ++s) {
      INTERLOCK_CHECK(s < streams_.size());
      if (streams_[s].takes_launches && n-- == 0) return s;
    }
  }

  // Latest first: their clocks imply most of the others.
  void add_waits(std::span<const GraphNodeIndex> predecessors, uint32_t s) {
    StreamClock& clock = streams_[s].clock;
    for (size_t i = predecessors.size(); i-- > 0;) {
      const PlacedNode& predecessor = nodes_[predecessors[i]];
      const bool is_implied =
          predecessor.stream < clock.size() && clock[predecessor.stream] >= predecessor.position;
      if (is_implied) continue;
      add({StreamAction::Kind::kWait, s, predecessor.event});
      raise(clock, predecessor.clock);
    }
  }

  void add(StreamAction action) { plan_.actions.push_back(action); }

  const DispatchGraph& graph_;
  uint32_t stream_count_max_;
  uint64_t seed_;
  std::vector<PlacedNode> nodes_;
  std::vector<uint32_t> uses_;  // By node: its successors.
  std::vector<Stream> streams_;
  StreamPlan plan_;
};

// Drops the records of events that nobody waits for: streams order those themselves. The others
// share a few events: once the host has issued the last wait for a record, its event is free.
StreamPlan share_events(StreamPlan plan) {
  std::vector<size_t> last_wait(plan.event_count, 0);
  for (size_t i = 0; i < plan.actions.size(); ++i) {
    if (plan.actions[i].kind == StreamAction::Kind::kWait) last_wait[plan.actions[i].index] = i;
  }
  std::vector<uint32_t> shared(plan.event_count);
  std::vector<uint32_t> free;
  plan.event_count = 0;
  std::vector<StreamAction> kept;
  for (size_t i = 0; i < plan.actions.size(); ++i) {
    StreamAction action = plan.actions[i];
    const uint32_t own = action.index;
    if (action.kind == StreamAction::Kind::kRecord) {
      if (last_wait[own] == 0) continue;
      if (free.empty()) free.push_back(plan.event_count++);
      shared[own] = free.back();
      free.pop_back();
    }
    if (action.kind != StreamAction::Kind::kLaunch) action.index = shared[own];
    if (action.kind == StreamAction::Kind::kWait && last_wait[own] == i) {
      free.push_back(action.index);
    }
    kept.push_back(action);
  }
  plan.actions = std::move(kept);
  return plan;
}

}  // namespace

StreamPlan plan_streams(const DispatchGraph& graph, uint32_t stream_count, uint64_t seed) {
  INTERLOCK_CHECK(stream_count > 0);
  return share_events(StreamPlanner(graph, stream_count, seed).plan());
}

}  // namespace interlock
