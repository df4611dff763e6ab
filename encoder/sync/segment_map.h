// SegmentMap: the bytes of all memories that were accessed or registered, as segments, cut wherever
// an access or a registered buffer began or ended (SegmentCuts), and their stamps. Bytes of no
// segment are unused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/sync/buffer_table.h"
#include "encoder/sync/segment_cuts.h"

namespace interlock {

class SegmentMap final : public SegmentCuts<SegmentMap, Segment> {
 public:
  // The registered buffers. Those that are exclusive own a segment each; of one that is cut the
  // buffer is exclusive no longer.
  BufferTable buffers;

  // Sweeps if that is due. `oldest_stamp`: as for merge(). Segments move. To be called before
  // anything of this is asked for the first time, `buffers` apart.
  // Cost: amortized constant for each segment that is made.
  void prepare(uint32_t oldest_stamp) {
    if (!table_.has_room()) table_.rebuild(0);
    if (segment_count() > sweep_limit_) sweep_or_wait(oldest_stamp);
  }

  // SegmentTable::Near. Requires: prepare() was called.
  using Near = SegmentTable::Near;
  Near near() { return Near(table_); }

  // How often locate() has moved segments.
  uint64_t move_count() const { return table_.growth_count(); }

  // The segment that begins at `offset`, or nullptr. Cost: constant.
  Segment* begins_at(MemoryId memory, uint64_t offset) { return table_.find(memory.index, offset); }

  uint32_t& stamp_of(Segment& segment) {
    return segment.owner == Segment::kNone ? segment.stamp : buffers.stamp(segment.owner);
  }
  uint32_t stamp_of(const Segment& segment) const {
    return segment.owner == Segment::kNone ? segment.stamp : buffers.stamp(segment.owner);
  }

  // Makes a buffer exclusive that is one segment, if that has no owner yet. Its stamp stays known.
  // Requires: its bytes were located. Cost: constant.
  void give_if_apart(uint32_t buffer);

  // Ends what that began. Requires: the buffer is exclusive.
  void take_back(uint32_t buffer);

  // Removes cuts inside `range` that tell nothing apart: between segments of the same stamp, or of
  // two stamps older than `oldest_stamp`. Owned segments stay. Requires: the range was located.
  // Cost: O(log s) and the segments that the range covers; segments move.
  void merge(MemoryId memory, ByteRange range, uint32_t oldest_stamp);

  // Makes all bytes unused. Cost: linear.
  void forget_stamps();

  size_t size_bytes() const;

 private:
  friend class SegmentCuts<SegmentMap, Segment>;

  void begin_cut(Segment& segment) {
    if (segment.owner != Segment::kNone) take_back(segment.owner);
  }
  static void end_cut(Segment& /*upper*/) {}
  void note_new(Segment& segment) const { segment.sweep = sweep_count_; }

  void sweep_or_wait(uint32_t oldest_stamp);
  void sweep(uint32_t oldest_stamp, bool absorbs);
  bool are_recent_to_stay(bool has_ghosts_back);
  void absorb_what_is_alike(uint32_t oldest_stamp);
  std::vector<Segment> all_used_since(uint32_t oldest_stamp);

  // What sweeps go by, beside what comes back.
  uint32_t sweep_count_ = 0;
  uint32_t last_sweep_stamp_ = 0;  // Segments used since then have no older stamp.
  bool keeps_recent_ = false;
};

extern template class SegmentCuts<SegmentMap, Segment>;

}  // namespace interlock
