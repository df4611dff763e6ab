// AccessHistory: per byte segment, the latest access of each sort, while the dispatches of a
// program are visited in some order. It answers what a new access conflicts with.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/stamp_tree.h"

namespace interlock {

// Accesses of one sort conflict alike. Atomics of one operation commute, so each is a sort.
inline constexpr size_t kPlainReads = 0;
inline constexpr size_t kPlainWrites = 1;
inline constexpr size_t kFirstAtomicSort = 2;
inline constexpr size_t kSortCount = kFirstAtomicSort + static_cast<size_t>(AtomicOp::kXor) + 1;

inline size_t atomic_sort(AtomicOp op) { return kFirstAtomicSort + static_cast<size_t>(op); }

// Which side of an earlier access a conflict is about.
enum class AccessSide : uint8_t { kReads, kWrites };

// Two atomics of one commutative operation do not conflict. Otherwise an atomic reads and writes.
inline bool commute(const Access& first, AtomicOp first_op, const Access& second,
                    AtomicOp second_op) {
  return first.is_atomic() && second.is_atomic() && first_op == second_op &&
         first_op != AtomicOp::kNone;
}

// The latest earlier dispatches that one conflicts with, as stamps; zero: none.
struct LatestConflicts {
  Stamp write = 0;  // RAW and WAW: what this one reads or overwrites was written there.
  Stamp any = 0;    // And WAR: what this one overwrites was read there.
};

class AccessHistory {
 public:
  // Requires: `segments` was built from `program`; both outlive this.
  AccessHistory(const Program& program, const ByteSegments& segments)
      : program_(program), segments_(segments) {}

  // Remembers the accesses of `dispatch` with `stamp`; where a stamp is there already, the greater
  // one stays. They do not conflict with each other: after all questions about the dispatch.
  // Cost: O(log segments) per operand, as for latest().
  void record(DispatchId dispatch, Stamp stamp);

  // Returns the greatest stamp in `span` of the recorded accesses that have the side `side` and do
  // not commute with `access`; zero if there is none. Requires: as latest_runs().
  Stamp latest(SegmentSpan span, const Access& access, AtomicOp op, AccessSide side) const;

  // Returns the greatest stamps among the recorded accesses that `dispatch` conflicts with.
  LatestConflicts latest(DispatchId dispatch) const;

  // Asks for the cache lines that a dispatch a little after `dispatch` will wait for.
  void prefetch_ahead(DispatchId dispatch) const;

  // Replaces `runs` by the runs of `span`, in order, in which the greatest stamp among the recorded
  // accesses that have the side `side` and do not commute with `access` is at least `threshold`.
  // Requires: threshold > 0; `access` writes, unless `side` is kWrites.
  void latest_runs(SegmentSpan span, const Access& access, AtomicOp op, AccessSide side,
                   Stamp threshold, std::vector<StampRun>& runs) const;

 private:
  template <typename Visit>
  void for_each_conflicting_tree(const Access& access, AtomicOp op, AccessSide side,
                                 Visit visit) const;
  StampTree& tree(size_t sort);

  const Program& program_;
  const ByteSegments& segments_;
  std::array<std::unique_ptr<StampTree>, kSortCount> trees_;  // Null: nothing recorded.
  bool has_atomics_ = false;                                  // One of the atomic trees is there.
};

}  // namespace interlock
