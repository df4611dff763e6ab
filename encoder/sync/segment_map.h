// SegmentMap: the bytes of all memories, cut into segments wherever a range began or ended, and a
// number on each segment that says how its bytes were used last. It knows nothing of hazards: its
// owner reads and writes the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/sync/boundary_index.h"
#include "encoder/sync/segment_memo.h"

namespace interlock {

// A maximal piece of one memory whose bytes have been treated alike.
struct Segment {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t stamp = 0;   // The owner's. Bytes that nobody used have the stamp 0.
  uint32_t memory = 0;  // kNone for a free segment.
  uint32_t next = 0;    // The one that begins where this one ends; kNone after the last.
};

class SegmentMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  Segment& operator[](uint32_t id) { return segments_[id]; }
  const Segment& operator[](uint32_t id) const { return segments_[id]; }

  // Cuts where `range` begins and ends; returns the segment that begins where it does. A cut leaves
  // the lower half under the old id. Requires: `range` is not empty.
  // Cost: constant for a range seen before, else O(log s) for s segments of the memory, and the
  // segments that the range covers.
  uint32_t locate(MemoryId memory, ByteRange range) {
    const uint32_t tag = SegmentMemo::tag_of(memory.index, range.begin);
    const uint32_t known =
        memo_.find(tag, [&](uint32_t id) { return begins_at(segments_[id], memory, range.begin); });
    if (known != kNone && segments_[known].end == range.end) return known;
    return locate_anew(memory, range, tag, known);
  }

  // Cuts at `offset` and keeps that cut until it is unpinned as often as it was pinned; returns the
  // segment that begins there, whose id stays the same until then. Cost: O(log s).
  uint32_t pin(MemoryId memory, uint64_t offset);
  void unpin(uint32_t id);

  // Removes cuts inside `range` that tell nothing apart: between segments of the same stamp, or
  // of two stamps older than `oldest_stamp`. Pinned cuts stay. Requires: the range was located.
  // Cost: O(log s) and the segments that the range covers; ids of removed ones become invalid.
  void merge(MemoryId memory, ByteRange range, uint64_t oldest_stamp);

  // Does the same everywhere. Cost: linear in all segments, and O(1) amortized over the cuts, if
  // done once is_sweep_due().
  void sweep(uint64_t oldest_stamp);
  bool is_sweep_due() const { return segment_count() > sweep_limit_; }

  size_t segment_count() const { return segments_.size() - free_count_; }
  size_t size_bytes() const;

 private:
  // The segments of one memory, adjoining. The first begins at 0 and the last ends at UINT64_MAX:
  // the map need not know how large memories are.
  struct MemorySegments {
    uint32_t first = kNone;     // kNone: one segment of stamp 0, as yet unsaid.
    BoundaryIndex::Tree index;  // Empty while a walk from the first finds everything.
  };

  static bool begins_at(const Segment& segment, MemoryId memory, uint64_t begin) {
    return segment.begin == begin && segment.memory == memory.index;
  }

  uint32_t locate_anew(MemoryId memory, ByteRange range, uint32_t tag, uint32_t known);
  uint32_t holder_of(MemoryId memory, uint64_t offset);
  uint32_t cut(MemoryId memory, uint64_t offset);
  uint32_t split(uint32_t id, uint64_t offset);
  uint32_t new_segment(const Segment& segment);
  void free_segment(uint32_t id);
  bool absorb(uint32_t kept, uint32_t id, uint64_t oldest_stamp);
  void append_all(std::vector<uint32_t>& ids) const;
  void rebuild_index(const std::vector<uint32_t>& ids, uint64_t oldest_stamp);
  void memorize(uint32_t tag, uint32_t id);

  std::vector<MemorySegments> memories_;  // By memory index.
  std::vector<Segment> segments_;
  std::vector<uint32_t> pin_counts_;  // By segment: who wants the cut where it begins.
  uint32_t first_free_ = kNone;       // Free segments are linked by `next`.
  size_t free_count_ = 0;
  SegmentMemo memo_;
  BoundaryIndex index_;
  std::vector<uint32_t> swept_;  // Of a sweep: kept, because to allocate it costs as much.
  size_t sweep_limit_ = kMinSweepLimit;

  static constexpr size_t kMinSweepLimit = size_t{1} << 14;
};

}  // namespace interlock
