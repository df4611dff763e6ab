// QueueSegmentMap: the bytes of all memories that dispatches of several queues accessed, as
// segments, cut wherever an access began or ended, and what was done to them. What SegmentMap is
// for one queue, but for registered buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/sync/ghost_filter.h"
#include "encoder/sync/queue_segment.h"
#include "encoder/sync/queue_uses.h"
#include "encoder/sync/segment_order.h"
#include "encoder/sync/segment_table.h"

namespace interlock {

class QueueSegmentMap {
 public:
  explicit QueueSegmentMap(uint32_t queue_count) : uses(queue_count) {}

  // What was done to the segments.
  QueueUses uses;

  // Whether sweep() is due. To be asked before the first locate(), and then now and again.
  bool is_full() const { return !table_.has_room() || table_.size() > sweep_limit_; }

  // Forgets the segments all of whose uses are before what `known` says by queue, that is, of every
  // queue. Segments move. Cost: linear; amortized constant for each segment made, if called when
  // is_full() says so.
  void sweep(const uint64_t* known);

  // Cuts where `range` begins and ends, and makes segments of what was none; returns the one that
  // begins where the range does. Others may move. Requires: `range` is not empty.
  // Cost: constant for a range seen before, else O(log s) for s segments of the memory, and the
  // segments that the range covers.
  QueueSegment* locate(MemoryId memory, ByteRange range) {
    QueueSegment* const known = find(memory, range);
    return known != nullptr ? known : locate_anew(memory, range);
  }

  // The segment that is `range`, or nullptr. Cost: constant.
  QueueSegment* find(MemoryId memory, ByteRange range) {
    QueueSegment* const known = table_.find(memory.index, range.begin);
    return known != nullptr && known->end == range.end ? known : nullptr;
  }

  // The one that begins where `segment` ends. Requires: it is not the last of a located range.
  QueueSegment* next_of(const QueueSegment& segment) {
    return table_.find(segment.memory(), segment.end);
  }

  // Fetch what find() needs, in two steps: the second waits for the first.
  void prefetch_slot(MemoryId memory, ByteRange range) const {
    table_.prefetch_slot(memory.index, range.begin);
  }
  void prefetch_segment(MemoryId memory, ByteRange range) const {
    table_.prefetch_segment(memory.index, range.begin);
  }

  // Removes cuts inside `range` that tell nothing apart; `known` as for sweep(). Requires: the
  // range was located. Cost: O(log s) and the segments that the range covers; segments move.
  void merge(MemoryId memory, ByteRange range, const uint64_t* known);

  template <typename Visit>
  void for_each(const Visit& visit) {
    table_.for_each(visit);
  }

  size_t segment_count() const { return table_.size(); }
  size_t lookup_bytes() const { return table_.lookup_bytes(); }
  size_t size_bytes() const;

 private:
  static constexpr size_t kMinSweepLimit = size_t{1} << 14;

  // Of what is forgotten one in so many is remembered, by its hash, to tell how often it comes
  // back: nothing else depends on these bits. One in kOften is often; by chance it is one in 256 at
  // most (GhostFilter).
  static constexpr size_t kGhostShare = 8;
  static constexpr size_t kOften = 64;
  static bool can_be_ghost(uint64_t hash) { return (hash >> 29) % kGhostShare == 0; }

  QueueSegment* locate_anew(MemoryId memory, ByteRange range);
  QueueSegment* holder_of(MemoryId memory, uint64_t offset);
  QueueSegment* split(QueueSegment* segment, uint64_t offset);
  QueueSegment* insert(const QueueSegment& segment);
  QueueSegment* insert_in_table(const QueueSegment& segment);
  void forget_if_before(const uint64_t* known, QueueSegment& segment);
  std::vector<QueueSegment> take_those_after(const uint64_t* known);

  BasicSegmentTable<QueueSegment> table_;
  SegmentOrder order_;

  // What sweeps go by.
  size_t sweep_limit_ = kMinSweepLimit;
  size_t least_limit_ = kMinSweepLimit;
  GhostFilter ghosts_;
  size_t ghosts_back_ = 0;  // Since the last sweep.
  size_t new_count_ = 0;
};

}  // namespace interlock
