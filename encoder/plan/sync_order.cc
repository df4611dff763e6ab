// The basic idea is one walk along the text with two sets of dispatches for each queue: those that
// hold back whatever comes next there, and those that a signal there would cover. A dispatch comes
// after what holds it back; a wait adds what its signal covered to both sets.
#include "encoder/plan/sync_order.h"

#include <algorithm>
#include <map>
#include <span>

#include "encoder/program/stop.h"

namespace interlock {
namespace {

using Bits = std::vector<uint64_t>;

void unite(Bits& bits, std::span<const uint64_t> more) {
  if (bits.size() < more.size()) bits.resize(more.size(), 0);
  for (size_t i = 0; i < more.size(); ++i) bits[i] |= more[i];
}

void insert(Bits& bits, uint32_t dispatch) {
  if (bits.size() <= dispatch / 64) bits.resize(dispatch / 64 + 1, 0);
  bits[dispatch / 64] |= uint64_t{1} << (dispatch % 64);
}

}  // namespace

bool has_sync_of_queues(const Program& program) {
  return !program.queues.empty() || std::ranges::any_of(program.syncs, [](const SyncStep& step) {
    return step.kind != SyncKind::kSplit;
  });
}

class SyncOrder::Walk {
 public:
  Walk(const Program& program, SyncOrder& order)
      : program_(program), order_(order), queues_(program.queue_count()) {
    for (const SyncStep& step : program.syncs) {
      const bool is_wait = step.kind == SyncKind::kWait && step.partner != SyncStep::kNoPartner;
      if (is_wait && step.stages == kAllStages) ++waits_left_[step.partner];
    }
  }

  void run() {
    order_.first_word_.reserve(program_.dispatches.size());
    for (uint32_t i = 0; i < program_.dispatches.size(); ++i) {
      order_.first_word_.push_back(word_count_);
      word_count_ += (i + 63) / 64;
    }
    order_.bits_.assign(word_count_, 0);
    for (const Statement& statement : program_.statements) {
      if (is_stopped()) return;
      if (statement.queue == kNoQueue) continue;
      visit(statement, queues_[statement.queue]);
    }
  }

 private:
  struct QueueState {
    Bits held_back_by;  // What comes next comes after these.
    Bits covered;       // And a signal covers these, too.
  };

  void visit(const Statement& statement, QueueState& queue) {
    if (statement.kind == StatementKind::kDispatch) return visit_dispatch(statement, queue);
    if (statement.kind == StatementKind::kBarrier) {
      const bool is_full = program_.barriers[statement.index].kind == BarrierKind::kFull;
      if (is_full) unite(queue.held_back_by, queue.covered);
      return;
    }
    if (statement.kind != StatementKind::kSync) return;
    const SyncStep& step = program_.syncs[statement.index];
    if (step.kind == SyncKind::kSignal) signal(step, queue);
    if (step.kind == SyncKind::kWait) wait(step, queue);
  }

  void visit_dispatch(const Statement& statement, QueueState& queue) {
    const uint32_t id = statement.index;
    Bits before = queue.held_back_by;
    for (const Edge& edge : program_.edges_to(DispatchId(size_t{id}))) {
      if (edge.is_programmatic) continue;
      unite(before, row(edge.from.index));
      insert(before, edge.from.index);
    }
    const size_t words = std::min<size_t>(before.size(), (id + 63) / 64);
    std::copy_n(before.begin(), words, order_.bits_.begin() + first_word(id));
    insert(before, id);
    unite(queue.covered, before);
    if (is_serial(program_.kind_of(statement.queue))) unite(queue.held_back_by, before);
  }

  void signal(const SyncStep& step, const QueueState& queue) {
    for (uint32_t part = step.first; part < step.first + step.count; ++part) {
      const auto waits = waits_left_.find(part);
      const bool covers_all = program_.signal_parts[part].stages == kAllStages;
      const uint64_t size_bytes = queue.covered.size() * sizeof(uint64_t);
      if (waits == waits_left_.end() || !covers_all) continue;
      if (snapshot_bytes_ + size_bytes > kSnapshotBytesMax) continue;
      snapshot_bytes_ += size_bytes;
      snapshots_.emplace(part, queue.covered);
    }
  }

  // A wait for what is signalled later in the text finds nothing.
  void wait(const SyncStep& step, QueueState& queue) {
    const auto snapshot = snapshots_.find(step.partner);
    if (step.stages != kAllStages || snapshot == snapshots_.end()) return;
    unite(queue.held_back_by, snapshot->second);
    unite(queue.covered, snapshot->second);
    if (--waits_left_[step.partner] > 0) return;
    snapshot_bytes_ -= snapshot->second.size() * sizeof(uint64_t);
    snapshots_.erase(snapshot);
  }

  std::ptrdiff_t first_word(uint32_t id) const {
    return static_cast<std::ptrdiff_t>(order_.first_word_[id]);
  }
  std::span<const uint64_t> row(uint32_t id) const {
    return std::span(order_.bits_).subspan(order_.first_word_[id], (id + 63) / 64);
  }

  const Program& program_;
  SyncOrder& order_;
  std::vector<QueueState> queues_;
  std::map<uint32_t, uint32_t> waits_left_;  // By part of a signal: waits to come.
  std::map<uint32_t, Bits> snapshots_;       // By part of a signal: what it covers.
  uint64_t snapshot_bytes_ = 0;
  size_t word_count_ = 0;
};

SyncOrder::SyncOrder(const Program& program) { Walk(program, *this).run(); }

}  // namespace interlock
