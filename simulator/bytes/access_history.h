// AccessHistory: per byte segment, the latest access of each sort, while the dispatches of a
// program are visited in some order. It answers what a new access conflicts with.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/stamp_tree.h"

namespace interlock {

// Which side of an earlier access a conflict is about.
enum class AccessSide : uint8_t { kReads, kWrites };

inline bool has_read_side(const Access& access) { return access.reads() || access.is_atomic(); }
inline bool has_write_side(const Access& access) { return access.writes() || access.is_atomic(); }

// Two atomics of one commutative operation do not conflict. Otherwise an atomic reads and writes.
inline bool commute(const Access& first, AtomicOp first_op, const Access& second,
                    AtomicOp second_op) {
  return first.is_atomic() && second.is_atomic() && first_op == second_op &&
         first_op != AtomicOp::kNone;
}

class AccessHistory {
 public:
  explicit AccessHistory(uint32_t segment_count);

  // Remembers `access` with `stamp`; where a stamp is there already, the greater one stays.
  // Cost: O(log segments), as for latest().
  void record(SegmentSpan span, const Access& access, AtomicOp op, Stamp stamp);

  // Returns the greatest stamp in `span` among the recorded accesses that have the side `side` and
  // do not commute with `access`.
  // Requires: `access` writes, unless `side` is kWrites.
  Stamp latest(SegmentSpan span, const Access& access, AtomicOp op, AccessSide side) const;

  // Asks for the cache lines that record() and latest() of `span` are about to wait for.
  void prefetch(SegmentSpan span) const;

  // Replaces `runs` by the runs of `span`, in order, in which that stamp is at least `threshold`.
  // Requires: threshold > 0.
  void latest_runs(SegmentSpan span, const Access& access, AtomicOp op, AccessSide side,
                   Stamp threshold, std::vector<StampRun>& runs) const;

 private:
  static constexpr size_t kPlainReads = 0;
  static constexpr size_t kPlainWrites = 1;
  static constexpr size_t kFirstAtomic = 2;  // One tree per operation.
  static constexpr size_t kTreeCount = kFirstAtomic + static_cast<size_t>(AtomicOp::kXor) + 1;

  static size_t atomic_tree(AtomicOp op) { return kFirstAtomic + static_cast<size_t>(op); }

  template <typename Visit>
  void for_each_conflicting_tree(const Access& access, AtomicOp op, AccessSide side,
                                 Visit visit) const;
  StampTree& tree(size_t index);

  uint32_t segment_count_;
  std::array<std::unique_ptr<StampTree>, kTreeCount> trees_;  // Null: nothing recorded.
  bool has_atomics_ = false;                                  // One of the atomic trees is there.
};

}  // namespace interlock
