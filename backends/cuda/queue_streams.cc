#include "backends/cuda/queue_streams.h"

#include <algorithm>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

class QueueStreamPlanner {
 public:
  QueueStreamPlanner(const Program& program, const Poison& poison, uint32_t lane_count,
                     uint64_t seed)
      : program_(program),
        poison_(poison),
        seed_(seed),
        queues_(program.queue_count()),
        signal_events_(program.signal_parts.size()),
        set_events_(program.syncs.size()),
        places_(program.dispatches.size()) {
    for (size_t q = 0; q < queues_.size(); ++q) add_lanes(static_cast<QueueIndex>(q), lane_count);
    for (size_t q = 0; q < program.queues.size(); ++q) {
      const QueueIndex stream = program.queues[q].launched_on;
      if (stream != kNoQueue) queues_[q].lanes = queues_[stream].lanes;
    }
  }

  void add(StatementId id) {
    const Statement& statement = program_.statements[id.index];
    if (is_of_host(program_, statement)) {
      add_of_host(statement);
      return;
    }
    switch (statement.kind) {
      case StatementKind::kDispatch:
        add_dispatch(statement.queue, DispatchId(size_t{statement.index}));
        break;
      case StatementKind::kBarrier:
        join_lanes(statement.queue);
        break;
      case StatementKind::kSync:
        add_sync(statement.queue, statement.index);
        break;
      case StatementKind::kLifetime:
        break;
    }
  }

  QueueStreams finish() && {
    launch_graphs();
    return std::move(plan_);
  }

 private:
  using Events = std::vector<uint32_t>;

  struct QueueState {
    std::vector<uint32_t> lanes;  // Its streams.
    DispatchGraph graph;          // Of a graph queue: what is not launched yet.
  };
  // Of a dispatch of a graph queue.
  struct GraphPlace {
    GraphNodeIndex node = 0;
    bool is_launched = false;
  };

  void add_lanes(QueueIndex q, uint32_t lane_count) {
    CudaStreamKind kind = CudaStreamKind::kNonBlocking;
    if (program_.kind_of(q) == QueueKind::kSerialBlocking) kind = CudaStreamKind::kBlocking;
    if (program_.kind_of(q) == QueueKind::kLegacyDefault) kind = CudaStreamKind::kLegacy;
    const bool has_own = program_.queues.empty() || program_.queues[q].launched_on == kNoQueue;
    if (!has_own) return;
    const uint32_t count = program_.kind_of(q) == QueueKind::kConcurrent ? lane_count : 1;
    for (uint32_t lane = 0; lane < count; ++lane) {
      queues_[q].lanes.push_back(static_cast<uint32_t>(plan_.streams.size()));
      plan_.streams.push_back(kind);
      is_used_.push_back(false);
    }
  }

  bool is_graph(QueueIndex q) const { return program_.kind_of(q) == QueueKind::kGraph; }

  void act(QueueAction::Kind kind, uint32_t stream, uint32_t index) {
    plan_.actions.push_back({kind, stream, index});
    is_used_[stream] = is_used_[stream] || kind < QueueAction::Kind::kHostDispatch;
  }

  // A stream that does not block and has nothing, has nothing to wait for.
  bool has_work(uint32_t stream) const {
    return is_used_[stream] || plan_.streams[stream] != CudaStreamKind::kNonBlocking;
  }

  // --- Events.

  // Of all that the queue has so far.
  Events record(QueueIndex q) {
    launch_graph(q);
    Events events;
    for (const uint32_t lane : queues_[q].lanes) {
      if (!has_work(lane)) continue;
      events.push_back(plan_.event_count++);
      act(QueueAction::Kind::kRecord, lane, events.back());
    }
    return events;
  }

  Events record_all() {
    Events events;
    for (size_t q = 0; q < queues_.size(); ++q) {
      const Events own = record(static_cast<QueueIndex>(q));
      events.insert(events.end(), own.begin(), own.end());
    }
    return events;
  }

  void wait(QueueIndex q, const Events& events) {
    launch_graph(q);
    for (const uint32_t lane : queues_[q].lanes) {
      for (const uint32_t event : events) act(QueueAction::Kind::kWait, lane, event);
    }
  }

  void join_lanes(QueueIndex q) {
    if (queues_[q].lanes.size() > 1) wait(q, record(q));
  }

  void host_wait(const Events& events) {
    for (const uint32_t event : events) act(QueueAction::Kind::kHostWait, 0, event);
  }

  // --- What queues do.

  void add_dispatch(QueueIndex q, DispatchId id) {
    // Poison stands where issue order has it: after all that was issued, and before all to come.
    const bool is_fence = !poison_.ended_before(id).empty();
    if (is_fence) wait(q, record_all());
    if (is_graph(q)) {
      add_to_graph(q, id);
    } else {
      const std::vector<uint32_t>& lanes = queues_[q].lanes;
      const uint64_t random = splitmix64(seed_ * kGolden64 + id.index) >> 32;
      act(QueueAction::Kind::kDispatch, lanes[random % lanes.size()], id.index);
    }
    if (!is_fence) return;
    const Events over = record(q);
    for (size_t o = 0; o < queues_.size(); ++o) wait(static_cast<QueueIndex>(o), over);
  }

  void add_sync(QueueIndex q, uint32_t index) {
    const SyncStep& step = program_.syncs[index];
    if (step.is_of_launch) {
      // The graph is launched on the stream, which has the order of all of them.
      launch_graph(q);
      return;
    }
    switch (step.kind) {
      case SyncKind::kSignal: {
        const Events events = record(q);
        for (size_t k = 0; k < program_.parts_of(step).size(); ++k) {
          signal_events_[step.first + k] = events;
        }
        break;
      }
      case SyncKind::kWait:
        wait(q, awaited(step));
        break;
      case SyncKind::kSet:
        set_events_[index] = record(q);
        break;
      case SyncKind::kAwait:
        wait(q, set_events_[step.partner]);
        break;
      default:
        break;
    }
  }

  // None where the initial value meets it, or the host has signalled.
  Events awaited(const SyncStep& step) const {
    return step.partner == SyncStep::kNoPartner ? Events() : signal_events_[step.partner];
  }

  // --- Graphs.

  void add_to_graph(QueueIndex g, DispatchId id) {
    for (const Edge& edge : program_.edges_to(id)) {
      const QueueIndex other = program_.queue_of(program_.dispatch(edge.from));
      if (other != g) wait(g, record(other));
    }
    std::vector<GraphNodeIndex> predecessors;
    for (const Edge& edge : program_.edges_to(id)) {
      const GraphPlace& place = places_[edge.from.index];
      if (!place.is_launched) predecessors.push_back(place.node);
    }
    places_[id.index].node = queues_[g].graph.add_node(id, predecessors);
  }

  void launch_graph(QueueIndex q) {
    DispatchGraph& graph = queues_[q].graph;
    if (graph.nodes.empty()) return;
    for (const DispatchGraph::Node& node : graph.nodes) {
      places_[node.dispatch.index].is_launched = true;
    }
    act(QueueAction::Kind::kGraph, queues_[q].lanes.front(),
        static_cast<uint32_t>(plan_.graphs.size()));
    plan_.graphs.push_back(std::exchange(graph, {}));
  }

  void launch_graphs() {
    for (size_t q = 0; q < queues_.size(); ++q) launch_graph(static_cast<QueueIndex>(q));
  }

  // --- The host.

  void add_of_host(const Statement& statement) {
    launch_graphs();
    if (statement.kind == StatementKind::kDispatch) {
      act(QueueAction::Kind::kHostDispatch, 0, statement.index);
      return;
    }
    if (statement.kind != StatementKind::kSync) return;
    const SyncStep& step = program_.syncs[statement.index];
    if (step.kind == SyncKind::kHostWaits) host_wait(awaited(step));
    if (step.kind != SyncKind::kHostIdle) return;
    host_wait(step.idle_queue == kNoQueue ? record_all() : record(step.idle_queue));
  }

  const Program& program_;
  const Poison& poison_;
  const uint64_t seed_;
  std::vector<QueueState> queues_;
  std::vector<Events> signal_events_;  // By signal part; none of the host's.
  std::vector<Events> set_events_;     // By sync step, a set.
  std::vector<GraphPlace> places_;     // By dispatch.
  std::vector<bool> is_used_;          // By stream.
  QueueStreams plan_;
};

}  // namespace

QueueStreams plan_queue_streams(const Program& program, std::span<const StatementId> order,
                                const Poison& poison, uint32_t lane_count, uint64_t seed) {
  INTERLOCK_CHECK(lane_count > 0);
  QueueStreamPlanner planner(program, poison, lane_count, seed);
  for (const StatementId statement : order) planner.add(statement);
  return std::move(planner).finish();
}

}  // namespace interlock
