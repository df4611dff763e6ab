// The basic idea is a history that lags behind: it has the accesses before the current epoch and
// none of the epoch itself. If the latest conflict in it lies in the previous epoch, a conflict
// joins the two, and the barrier between them is needed. A history of all accesses would not do: a
// hazard within the epoch would hide the conflict behind it.
#include "simulator/barriers/redundancy.h"

#include <algorithm>
#include <array>

#include "encoder/program/stop.h"
#include "simulator/bytes/access_history.h"

namespace interlock {
namespace {

// One of the two sorts of epochs, joined by conflicts with what came before the current one.
class LaggingEpochs {
 public:
  LaggingEpochs(const Program& program, const ByteSegments& segments)
      : lagging_(program, segments) {}

  // Sees `dispatch`, whose epoch begins at `begin`. Dispatches come in issue order.
  void see(DispatchId dispatch, DispatchId begin, bool counts_wars) {
    for (; recorded_ < begin.index; ++recorded_) {
      lagging_.record(DispatchId(size_t{recorded_}), recorded_ + 1);
    }
    if (epochs.is_current_joined(begin)) return;  // Nothing more to learn of it.
    const LatestConflicts latest = lagging_.latest(dispatch);
    epochs.see(begin, counts_wars ? latest.any : latest.write);
  }

  JoinedEpochs epochs;

 private:
  AccessHistory lagging_;  // Stamps are dispatch indices plus 1.
  uint32_t recorded_ = 0;  // Dispatches before it.
};

// The barriers [begin, end) between one dispatch and the next, and what they are for.
struct BarrierRow {
  uint32_t slot;
  uint32_t begin;
  uint32_t end;
  bool needs_order;
  bool needs_visibility;
};

bool is_full(const Program& program, uint32_t barrier) {
  return program.barriers[barrier].kind == BarrierKind::kFull;
}

bool are_full(const Program& program) {
  return std::ranges::find(program.barriers, BarrierKind::kExecution, &Barrier::kind) ==
         program.barriers.end();
}

void append_redundant(const Program& program, const BarrierRow& row,
                      std::vector<RedundantBarrier>& redundant) {
  std::array<uint32_t, 2> fulls;  // At most two decide.
  size_t full_count = 0;
  for (uint32_t i = row.begin; i < row.end && full_count < fulls.size(); ++i) {
    if (is_full(program, i)) fulls[full_count++] = i;
  }
  for (uint32_t i = row.begin; i < row.end; ++i) {
    const bool is_only_order = row.end - row.begin == 1;
    const bool is_only_visibility = is_full(program, i) && full_count == 1;
    if ((is_only_order && row.needs_order) || (is_only_visibility && row.needs_visibility)) {
      continue;
    }
    if (is_only_order || is_only_visibility) {
      redundant.push_back({BarrierId(i), RedundancyReason::kNoConflict, {}, row.slot});
      continue;
    }
    // A full barrier can stand in for any, an execution barrier for its like.
    const uint32_t other = full_count == 0 ? row.begin + (i == row.begin ? 1 : 0)
                           : fulls[0] != i ? fulls[0]
                                           : fulls[1];
    redundant.push_back({BarrierId(i), RedundancyReason::kSamePlace, BarrierId(other), row.slot});
  }
}

void append_idle(uint32_t begin, uint32_t end, RedundancyReason reason, uint32_t slot,
                 std::vector<RedundantBarrier>& redundant) {
  for (uint32_t i = begin; i < end; ++i) redundant.push_back({BarrierId(i), reason, {}, slot});
}

// Those after the last dispatch.
void append_idle_at_end(const Program& program, uint32_t begin, uint32_t end,
                        std::vector<RedundantBarrier>& redundant) {
  append_idle(begin, end,
              program.dispatches.empty() ? RedundancyReason::kNothingBefore
                                         : RedundancyReason::kNothingBehind,
              static_cast<uint32_t>(program.dispatches.size()), redundant);
}

// Which epochs conflicts join with the one before.
struct JoinedSlots {
  const JoinedEpochs& execution;
  const JoinedEpochs& memory;
};

// What most are: one barrier, which is needed.
bool is_one_needed(const Program& program, const BarrierRow& row) {
  return row.end - row.begin == 1 &&
         (row.needs_order || (row.needs_visibility && is_full(program, row.begin)));
}

// What list_redundant() returns where all barriers are full: each row but one before the first
// dispatch is the begin of the next epoch, and needs order or nothing.
std::vector<RedundantBarrier> list_redundant_of_full(const Program& program,
                                                     const JoinedEpochs& joined) {
  std::vector<RedundantBarrier> redundant;
  uint32_t row_begin = 0;
  uint32_t barrier_count = 0;
  uint32_t epoch = 0;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kBarrier) barrier_count = statement.index + 1;
    if (statement.kind != StatementKind::kDispatch || barrier_count == row_begin) continue;
    if (statement.index == 0) {
      append_idle(row_begin, barrier_count, RedundancyReason::kNothingBefore, 0, redundant);
    } else {
      const bool is_joined = joined.is_joined(++epoch);
      if (!is_joined || barrier_count - row_begin > 1) {
        append_redundant(program, {statement.index, row_begin, barrier_count, is_joined, is_joined},
                         redundant);
      }
    }
    row_begin = barrier_count;
  }
  append_idle_at_end(program, row_begin, barrier_count, redundant);
  return redundant;
}

// The barriers that the joined epochs do not need. Every barrier is full or execution only, and
// some are the latter. Appends the rows to `rows`.
std::vector<RedundantBarrier> list_redundant(const Program& program, const HappensBefore& order,
                                             const JoinedSlots& joined,
                                             std::vector<BarrierRow>& rows) {
  std::vector<RedundantBarrier> redundant;
  uint32_t row_begin = 0;
  uint32_t barrier_count = 0;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kBarrier) {
      barrier_count = statement.index + 1;
      continue;
    }
    if (statement.kind != StatementKind::kDispatch) continue;
    const DispatchId next(statement.index);
    if (barrier_count > row_begin && next.index == 0) {
      append_idle(row_begin, barrier_count, RedundancyReason::kNothingBefore, 0, redundant);
    } else if (barrier_count > row_begin) {
      const BarrierRow row{next.index, row_begin, barrier_count,
                           joined.execution.is_joined(order.execution_epoch(next)),
                           joined.memory.is_joined(order.memory_epoch(next))};
      rows.push_back(row);
      if (!is_one_needed(program, row)) append_redundant(program, row, redundant);
    }
    row_begin = barrier_count;
  }
  append_idle_at_end(program, row_begin, barrier_count, redundant);
  return redundant;
}

// The full barriers whose memory is needed: no other one stands there.
std::vector<bool> with_needed_memory(const Program& program, const std::vector<BarrierRow>& rows) {
  std::vector<bool> is_needed(program.barriers.size());
  for (const BarrierRow& row : rows) {
    if (!row.needs_visibility) continue;
    uint32_t full = row.begin;
    uint32_t full_count = 0;
    for (uint32_t i = row.begin; i < row.end; ++i) {
      if (!is_full(program, i)) continue;
      full = i;
      ++full_count;
    }
    if (full_count == 1) is_needed[full] = true;
  }
  return is_needed;
}

// The memory of full barriers, but for those in `redundant`. A destroy needs order alone.
std::vector<SyncPiece> list_words(const Program& program, const std::vector<BarrierRow>& rows,
                                  const std::vector<RedundantBarrier>& redundant) {
  std::vector<SyncPiece> words;
  if (are_full(program)) return words;
  const std::vector<bool> is_needed = with_needed_memory(program, rows);
  uint32_t piece = 0;
  for (uint32_t i = 0; i < program.barriers.size(); ++i, ++piece) {
    if (!is_full(program, i)) continue;
    const uint32_t barrier = piece++;
    const bool goes =
        std::ranges::binary_search(redundant, BarrierId(i), {}, &RedundantBarrier::barrier);
    if (is_needed[i] || goes) continue;
    words.push_back({.kind = SyncPieceKind::kMemory,
                     .statement = program.barriers[i].statement,
                     .within = barrier});
  }
  return words;
}

// Takes what a destroy needs from `redundant`, and all if nobody can judge that.
void keep_for_destroys(const DestroyNeeds& needs, BarrierRedundancy& result) {
  if (!needs.is_complete) {
    result.unjudged_count = result.redundant.size();
    result.redundant.clear();
    return;
  }
  std::erase_if(result.redundant, [&needs](const RedundantBarrier& entry) {
    return std::ranges::binary_search(needs.barriers, entry.barrier);
  });
}

// By slot: whether an execution barrier there would stand within a hazard, and so fail to order it:
// within a memory epoch, between a write and a later conflicting access.
std::vector<bool> slots_within_hazards(const Program& program, const HappensBefore& order,
                                       const ByteSegments& segments) {
  const size_t count = program.dispatches.size();
  std::vector<int64_t> change(count + 1, 0);  // Of how many hazards a slot is within.
  AccessHistory history(program, segments);
  size_t end = 0;  // Of the memory epoch.
  for (size_t k = 0; k < count; ++k) {
    const size_t begin = order.memory_epoch_begin(DispatchId(k)).index;
    if (k == begin) {
      while (end < count && order.memory_epoch_begin(DispatchId(end)).index == begin) ++end;
    }
    // The first conflicting write of the epoch spans the most slots. A history keeps the greatest
    // stamp, so those of an epoch fall; the least of them is still above those of earlier epochs.
    const auto stamp = static_cast<Stamp>(begin + end - k);
    const Stamp first = history.latest(DispatchId(k)).write;
    if (first > begin) {
      ++change[begin + end - first + 1];
      --change[k + 1];
    }
    history.record(DispatchId(k), stamp);
  }
  std::vector<bool> is_within(count + 1, false);
  int64_t hazard_count = 0;
  for (size_t slot = 0; slot < count; ++slot) {
    hazard_count += change[slot];
    is_within[slot] = hazard_count > 0;
  }
  return is_within;
}

}  // namespace

// Apart, so that see() needs no room for it.
[[gnu::noinline]] void JoinedEpochs::start(DispatchId epoch_begin) {
  previous_ = begin_.is_some() ? begin_ : epoch_begin;
  begin_ = epoch_begin;
  if (++count_ > 64 * joined_.size()) joined_.push_back(0);
}

EpochJoins::EpochJoins(const Program& program, const HappensBefore& order)
    : program_(program), order_(order), are_all_full_(are_full(program)) {}

void EpochJoins::see(DispatchId dispatch, const ScannedConflicts& latest) {
  execution_.see(order_.execution_epoch_begin(dispatch), latest.any);
  if (!are_all_full_) memory_.see(order_.memory_epoch_begin(dispatch), latest.write);
}

BarrierRedundancy EpochJoins::redundant(const DestroyNeeds& destroys) const {
  BarrierRedundancy result;
  if (order_.has_scopes()) return result;
  std::vector<BarrierRow> rows;
  result.redundant = are_all_full_ ? list_redundant_of_full(program_, execution_)
                                   : list_redundant(program_, order_, {execution_, memory_}, rows);
  keep_for_destroys(destroys, result);
  result.words = list_words(program_, rows, result.redundant);
  return result;
}

BarrierRedundancy find_redundant(const Program& program, const HappensBefore& order,
                                 const ByteSegments& segments, const DestroyNeeds& destroys) {
  BarrierRedundancy result;
  if (program.barriers.empty()) return result;
  // A scoped barrier begins no epoch: beside one, epochs say nothing about any barrier.
  if (order.has_scopes()) return find_scoped_redundant(program, UINT64_MAX, destroys);
  const bool are_all_full = are_full(program);
  LaggingEpochs execution(program, segments);
  LaggingEpochs memory(program, segments);
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    if (is_stopped()) return {};
    const DispatchId id(i);
    execution.see(id, order.execution_epoch_begin(id), true);
    if (!are_all_full) memory.see(id, order.memory_epoch_begin(id), false);
  }
  std::vector<BarrierRow> rows;
  if (are_all_full) {
    result.redundant = list_redundant_of_full(program, execution.epochs);
  } else {
    result.redundant = list_redundant(program, order, {execution.epochs, memory.epochs}, rows);
    const std::vector<bool> is_within = slots_within_hazards(program, order, segments);
    std::erase_if(result.redundant, [&](const RedundantBarrier& entry) {
      return !is_full(program, entry.barrier.index) && is_within[entry.slot];
    });
  }
  keep_for_destroys(destroys, result);
  result.words = list_words(program, rows, result.redundant);
  return result;
}

}  // namespace interlock
