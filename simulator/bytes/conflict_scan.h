// ConflictScan: the one pass that visits all dispatches in reference order and knows, for each, its
// latest conflicts: what costs time is to find them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/conflict_observer.h"
#include "simulator/bytes/recurring_ranges.h"
#include "simulator/bytes/run_tree.h"

namespace interlock {

class AccessList;

// Dispatches are found and then recorded, in reference order.
class ConflictScan {
 public:
  // Requires: `segments` was built from `program`; both outlive this.
  ConflictScan(const Program& program, const ByteSegments& segments);
  ~ConflictScan();

  // Returns the conflicts of the first dispatch that is not recorded with all that are.
  // Cost: of a short program that of AccessList::find(); else O(log a) per operand for a accesses,
  // or of RecurringRanges::find() where they recur. So record(), amortized.
  ScannedConflicts find(DispatchId dispatch) {
    if (!recurring_.has_value() || recurring_->has_atomics()) return find_anyhow(dispatch);
    const ScannedConflicts found = recurring_->find(program_.dispatch(dispatch));
    level_ = found.level;
    return found;
  }

  // Requires: `dispatch` was found last.
  void record(DispatchId dispatch) {
    if (!recurring_.has_value()) return record_anyhow(dispatch);
    ++next_.index;
    recurring_->record(program_.dispatch(dispatch), dispatch.index + 1, level_);
  }

  // What is recorded, by segments; from now on it is what find() asks. Cost: at the first call
  // O(a log a).
  const AccessHistory& history();

 private:
  ScannedConflicts find_anyhow(DispatchId id);
  void record_anyhow(DispatchId id);
  bool has_atomics(const Dispatch& dispatch) const;
  bool can_use_runs(const Dispatch& dispatch) const;
  ScannedConflicts find_in_runs(const Dispatch& dispatch);
  void record_in_runs(DispatchId id);
  ByteRange in_all_bytes(const Access& access) const;

  const Program& program_;
  const ByteSegments& segments_;
  std::vector<uint64_t> memory_begins_;  // Where each memory begins in the bytes of all.
  // One of the four.
  std::unique_ptr<AccessList> list_;
  std::optional<RecurringRanges> recurring_;
  std::optional<RunTree> runs_;
  std::optional<AccessHistory> history_;
  DispatchId next_ = DispatchId(0);     // The first one that is not recorded.
  Stamp level_ = 0;                     // Of the dispatch found last, unless by history_.
  std::vector<RunTree::Place> places_;  // In runs_, of its operands that are not empty.
};

// Shows every dispatch to each of `observers`, whatever sync orders.
// Requires: `segments` was built from `program`. Cost: O(a log a) for a accesses.
void scan_conflicts(const Program& program, const ByteSegments& segments,
                    std::span<ConflictObserver* const> observers);

}  // namespace interlock
