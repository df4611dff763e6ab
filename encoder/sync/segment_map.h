// SegmentMap: the bytes of all memories that were accessed or registered, as segments, cut wherever
// an access or a registered buffer began or ended, and their stamps. Bytes of no segment are
// unused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/sync/buffer_table.h"
#include "encoder/sync/ghost_filter.h"
#include "encoder/sync/segment_order.h"
#include "encoder/sync/segment_table.h"

namespace interlock {

class SegmentMap {
 public:
  // The registered buffers. Those that are exclusive own a segment each.
  BufferTable buffers;

  // Sweeps if that is due. `oldest_stamp`: as for merge(). Segments move. To be called before
  // anything of this is asked for the first time, `buffers` apart.
  // Cost: amortized constant for each segment that is made.
  void prepare(uint32_t oldest_stamp) {
    if (!table_.has_room()) table_.rebuild(0);
    if (segment_count() > sweep_limit_) sweep_or_wait(oldest_stamp);
  }

  // How often locate() has moved segments.
  uint64_t move_count() const { return table_.growth_count(); }

  // Cuts where `range` begins and ends, and makes segments of what was none; returns the one that
  // begins where the range does. A cut leaves the lower half where it is. Buffers that are cut are
  // exclusive no longer. Requires: `range` is not empty.
  // Cost: constant for a range seen before, else O(log s) for s segments of the memory, and the
  // segments that the range covers.
  Segment* locate(MemoryId memory, ByteRange range) {
    Segment* const known = find(memory, range);
    return known != nullptr ? known : locate_anew(memory, range);
  }

  // The same where the range is known to be no segment.
  Segment* locate_anew(MemoryId memory, ByteRange range);

  // The segment that is `range`, or nullptr. Cost: constant.
  Segment* find(MemoryId memory, ByteRange range) {
    Segment* const known = table_.find(memory.index, range.begin);
    return known != nullptr && known->end == range.end ? known : nullptr;
  }

  // The segment that begins at `offset`, or nullptr. Cost: constant.
  Segment* begins_at(MemoryId memory, uint64_t offset) { return table_.find(memory.index, offset); }

  // Fetch what find() needs, in two steps: the second waits for the first.
  void prefetch_slot(MemoryId memory, ByteRange range) const {
    table_.prefetch_slot(memory.index, range.begin);
  }
  void prefetch_segment(MemoryId memory, ByteRange range) const {
    table_.prefetch_segment(memory.index, range.begin);
  }

  // The one that begins where `segment` ends; never nullptr but for the last of a located range.
  Segment* next_of(const Segment& segment) { return table_.find(segment.memory(), segment.end); }

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

  size_t segment_count() const { return table_.size(); }

  // The bytes in which what is accessed is looked up.
  size_t lookup_bytes() const { return table_.lookup_bytes(); }
  size_t size_bytes() const;

 private:
  static constexpr size_t kMinSweepLimit = size_t{1} << 14;

  Segment* holder_of(MemoryId memory, uint64_t offset);
  Segment* split(Segment* segment, uint64_t offset);
  Segment* insert(const Segment& segment);
  Segment* insert_in_table(const Segment& segment);
  void sweep_or_wait(uint32_t oldest_stamp);
  void sweep(uint32_t oldest_stamp, bool absorbs);
  bool are_recent_to_stay(bool comes_back);
  void absorb_what_is_alike(uint32_t oldest_stamp);
  std::vector<Segment> all_used_since(uint32_t oldest_stamp);

  SegmentTable table_;
  SegmentOrder order_;

  // What sweeps go by.
  size_t sweep_limit_ = kMinSweepLimit;
  size_t least_limit_ = kMinSweepLimit;
  uint32_t sweep_count_ = 0;
  uint32_t last_sweep_stamp_ = 0;  // Segments used since then have no older stamp.
  bool keeps_recent_ = false;
  GhostFilter ghosts_;
  size_t ghosts_back_ = 0;  // Since the last sweep.
  size_t new_count_ = 0;
};

}  // namespace interlock
