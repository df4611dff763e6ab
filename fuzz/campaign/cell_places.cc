#include "fuzz/campaign/cell_places.h"

#include <algorithm>
#include <cstddef>

namespace interlock {
namespace {

uint64_t outputs_of(const Program& program, const Dispatch& dispatch) {
  const auto accesses = program.declared_accesses_of(dispatch);
  return static_cast<uint64_t>(
      std::ranges::count_if(accesses, [](const Access& a) { return a.has_write_side(); }));
}

class BarrierPlaces {
 public:
  explicit BarrierPlaces(const Program& program) : program_(program) {
    uint64_t output_count = 0;
    size_t barrier = 0;
    places_.reserve(program.dispatches.size());
    for (const Dispatch& dispatch : program.dispatches) {
      while (barrier < program.barriers.size() &&
             program.barriers[barrier].statement.index < dispatch.statement.index) {
        ++barrier;
        output_count = 0;
      }
      places_.push_back({barrier, output_count});
      output_count += outputs_of(program, dispatch);
    }
  }

  PairPlace of(const DispatchPair& pair) const {
    const EpochPlace& first = places_[pair.first.index];
    return {sync_between(first.barrier_count, places_[pair.second.index].barrier_count),
            first.output_count};
  }

 private:
  // Where a dispatch stands among the barriers.
  struct EpochPlace {
    uint64_t barrier_count = 0;  // Before it.
    uint64_t output_count = 0;   // Of its epoch, before it.
  };

  CellSync sync_between(uint64_t begin, uint64_t end) const {
    if (begin == end) return CellSync::kMissed;
    if (end - begin > 1) return CellSync::kSeveral;
    const BarrierKind kind = program_.barriers[begin].kind;
    if (kind == BarrierKind::kScoped) return CellSync::kScoped;
    return kind == BarrierKind::kExecution ? CellSync::kExecution : CellSync::kFull;
  }

  const Program& program_;
  std::vector<EpochPlace> places_;  // By dispatch.
};

// Sees the statements one after another.
class QueuePlaces {
 public:
  explicit QueuePlaces(const Program& program)
      : program_(program),
        queue_count_(program.queue_count()),
        outputs_since_sync_(queue_count_),
        seen_signals_(queue_count_ * queue_count_),
        outputs_before_(program.dispatches.size()) {
    signal_of_part_.resize(program.signal_parts.size());
    for (const SyncStep& step : program.syncs) {
      if (step.kind != SyncKind::kSignal) continue;
      for (uint32_t k = 0; k < step.count; ++k) signal_of_part_[step.first + k] = step.statement;
    }
  }

  void pass(const Statement& statement) {
    if (statement.queue >= queue_count_) return;  // Of the host.
    if (statement.kind == StatementKind::kDispatch) {
      outputs_before_[statement.index] = outputs_since_sync_[statement.queue];
      outputs_since_sync_[statement.queue] +=
          outputs_of(program_, program_.dispatches[statement.index]);
      return;
    }
    outputs_since_sync_[statement.queue] = 0;
    if (statement.kind != StatementKind::kSync) return;
    const SyncStep& step = program_.syncs[statement.index];
    if (step.kind != SyncKind::kWait || step.partner == SyncStep::kNoPartner) return;
    const StatementId signal = signal_of_part_[step.partner];
    uint64_t& seen = seen_signal(statement.queue, program_.statements[signal.index].queue);
    seen = std::max<uint64_t>(seen, signal.index);
  }

  // Requires: what stands before the second one has passed.
  PairPlace of(const DispatchPair& pair) {
    const Dispatch& first = program_.dispatch(pair.first);
    const QueueIndex from = program_.queue_of(first);
    const QueueIndex to = program_.queue_of(program_.dispatch(pair.second));
    return {sync_between(pair, from, to), outputs_before_[pair.first.index]};
  }

 private:
  // The last signal of queue `from` that queue `to` has waited for: its statement.
  uint64_t& seen_signal(QueueIndex to, QueueIndex from) {
    return seen_signals_[size_t{to} * queue_count_ + from];
  }

  CellSync sync_between(const DispatchPair& pair, QueueIndex from, QueueIndex to) {
    const auto edges = program_.edges_to(pair.second);
    if (std::ranges::find(edges, pair.first, &Edge::from) != edges.end()) return CellSync::kEdge;
    if (from >= queue_count_ || to >= queue_count_) return CellSync::kHost;
    const bool is_graph = program_.kind_of(from) == QueueKind::kGraph;
    if (from == to && !is_graph) return CellSync::kQueue;
    const uint64_t place = program_.dispatch(pair.first).statement.index;
    return seen_signal(to, from) > place ? CellSync::kSignal : CellSync::kIndirect;
  }

  const Program& program_;
  const size_t queue_count_;
  std::vector<StatementId> signal_of_part_;
  std::vector<uint64_t> outputs_since_sync_;  // By queue.
  std::vector<uint64_t> seen_signals_;        // By queue that waits, and queue that signals.
  std::vector<uint64_t> outputs_before_;      // By dispatch.
};

}  // namespace

std::vector<PairPlace> places_of(const Program& encoded, std::span<const DispatchPair> pairs) {
  std::vector<PairPlace> result;
  result.reserve(pairs.size());
  if (encoded.queues.empty() && encoded.edges.empty()) {
    const BarrierPlaces places(encoded);
    for (const DispatchPair& pair : pairs) result.push_back(places.of(pair));
    return result;
  }
  QueuePlaces places(encoded);
  size_t statement = 0;
  for (const DispatchPair& pair : pairs) {
    const uint32_t end = encoded.dispatch(pair.second).statement.index;
    while (statement < end) places.pass(encoded.statements[statement++]);
    result.push_back(places.of(pair));
  }
  return result;
}

}  // namespace interlock
