// QueueSegmentMap: the bytes of all memories that dispatches of several queues accessed, as
// segments, cut wherever an access began or ended (SegmentCuts), and what was done to them. What
// SegmentMap is for one queue, but for registered buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/sync/queue_segment.h"
#include "encoder/sync/queue_uses.h"
#include "encoder/sync/segment_cuts.h"

namespace interlock {

class QueueSegmentMap final : public SegmentCuts<QueueSegmentMap, QueueSegment> {
 public:
  explicit QueueSegmentMap(uint32_t queue_count) : uses(queue_count) {}

  // What was done to the segments.
  QueueUses uses;

  // Whether sweep() is due. To be asked before the first locate(), and then now and again.
  bool is_full() const { return !table_.has_room() || table_.size() > sweep_limit_; }

  // Looks segments up in registers; requires what BasicSegmentTable::Near does.
  using Near = BasicSegmentTable<QueueSegment>::Near;
  Near near() { return Near(table_); }

  // Forgets the segments all of whose uses are before what `known` says by queue, that is, of every
  // queue. Segments move. Cost: linear; amortized constant for each segment made, if called when
  // is_full() says so.
  void sweep(const uint64_t* known);

  // Removes cuts inside `range` that tell nothing apart; `known` as for sweep(). Requires: the
  // range was located. Cost: O(log s) and the segments that the range covers; segments move.
  void merge(MemoryId memory, ByteRange range, const uint64_t* known);

  template <typename Visit>
  void for_each(const Visit& visit) {
    table_.for_each(visit);
  }

  size_t size_bytes() const;

 private:
  friend class SegmentCuts<QueueSegmentMap, QueueSegment>;

  static void begin_cut(QueueSegment& /*segment*/) {}
  void end_cut(QueueSegment& upper) { uses.copy_uses(upper); }
  static void note_new(QueueSegment& /*segment*/) {}

  void forget_if_before(const uint64_t* known, QueueSegment& segment);
  std::vector<QueueSegment> take_those_after(const uint64_t* known);
};

extern template class SegmentCuts<QueueSegmentMap, QueueSegment>;

}  // namespace interlock
