// HazardTracker: says, one dispatch at a time, whether it conflicts with the dispatches since the
// last barrier. A runtime can use it as it is: it sees memories as small numbers and byte ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/boundary_index.h"
#include "encoder/program.h"
#include "encoder/segment_memo.h"

namespace interlock {

class HazardTracker {
 public:
  // Returns true iff a dispatch with these accesses conflicts with the current epoch, on any shared
  // byte: RAW, WAR or WAW. Then a new epoch begins, that is, the caller issues a full barrier
  // first. Either way the dispatch is now part of the current epoch. Two atomics of the same
  // operation do not conflict; otherwise an atomic is a read and a write. An empty range conflicts
  // with nothing.
  // Cost per access: one probe for a range seen before; O(log s) amortized in general, for s
  // segments.
  bool add(std::span<const Access> accesses, AtomicOp atomic_op);

  // Forgets all accesses: the caller has issued a full barrier of its own. Cost: constant.
  void begin_epoch() { ++epoch_; }

  // How many pieces of memory are told apart right now. Bounded by the memories touched, and by
  // twice the pieces that the current epoch tells apart, or a constant.
  size_t segment_count() const { return segments_.size() - free_segments_.size(); }

 private:
  // What the current epoch has done to a piece of memory. Any mixture is a kWrite: an epoch that
  // does not conflict with itself mixes accesses only within one dispatch, and whatever comes later
  // conflicts with one part of the mixture or the other.
  enum class Use : uint8_t { kRead, kWrite, kAtomic };

  // A maximal piece of one memory whose bytes have been treated alike.
  struct Segment {
    ByteRange range;
    uint64_t epoch = 0;   // Of the last use; an older one than the current means: not used.
    uint32_t memory = 0;  // kNone for a free segment.
    uint32_t next = 0;    // In its memory; the next range begins where this one ends.
    Use use = Use::kRead;
    AtomicOp atomic_op = AtomicOp::kNone;  // Of kAtomic.
  };

  // All bytes of one memory, as a list of adjoining segments. The first begins at 0, the last has
  // no end: the tracker need not know how large memories are.
  struct TrackedMemory {
    uint32_t first_segment = kNone;
    BoundaryIndex index;
  };

  static constexpr uint32_t kNone = UINT32_MAX;

  bool begins_at(uint32_t segment, const Access& access) const;
  uint32_t segment_with(const Access& access);
  uint32_t segment_from(const Access& access, uint32_t hint);
  bool conflicts(uint32_t first, const Access& access, AtomicOp atomic_op) const;
  void record(uint32_t first, const Access& access, AtomicOp atomic_op);
  void use(Segment& segment, Use use, AtomicOp atomic_op) const;
  TrackedMemory& tracked(MemoryId memory);
  void memorize(uint32_t segment);
  uint32_t split(uint32_t segment, uint64_t offset);
  uint32_t new_segment(const Segment& segment);
  bool is_alike(const Segment& a, const Segment& b) const;
  void merge_alike(uint32_t first, uint64_t end);
  void sweep();

  std::vector<TrackedMemory> memories_;  // By memory index.
  std::vector<Segment> segments_;
  std::vector<uint32_t> free_segments_;
  SegmentMemo memo_;
  std::vector<uint32_t>
      hints_;           // By access of the dispatch at hand: a segment that holds its begin.
  uint64_t epoch_ = 1;  // Segments start with epoch 0: not used.
  size_t sweep_limit_ = kMinSweepLimit;

  static constexpr size_t kMinSweepLimit = size_t{1} << 14;
};

}  // namespace interlock
