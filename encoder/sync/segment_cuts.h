// SegmentCuts: segments of memories, cut wherever a range begins or ends, and joined where a cut
// tells nothing apart. What SegmentMap, of one queue, and QueueSegmentMap, of several, share: how
// ranges are found, cut and joined, and whether what was let go of comes back. What is known of a
// segment, and when it may go, they know themselves.
//
// The basic idea is that most ranges come again: a range that was seen before is found by one look
// into the table. One that comes for the first time and shares no byte with another is entered as
// it is; any other is found through an ordered index of where segments begin, and cut.
//
// A sweep removes what tells nothing apart any more. Where what it removed before keeps coming
// back, the table grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/sync/ghost_filter.h"
#include "encoder/sync/segment_order.h"
#include "encoder/sync/segment_table.h"

namespace interlock {

// `Map` derives from it, and has begin_cut(segment): that is going to be cut; end_cut(upper): the
// upper half, a copy of the segment but for where it begins; note_new(segment), which is in the
// table from now on.
template <typename Map, typename Piece>
class SegmentCuts {
 public:
  // The segment that is `range`, or nullptr. Cost: constant.
  Piece* find(MemoryId memory, ByteRange range) {
    Piece* const known = table_.find(memory.index, range.begin);
    return known != nullptr && known->end == range.end ? known : nullptr;
  }

  // Cuts where `range` begins and ends, and makes segments of what was none; returns the one that
  // begins where the range does. A cut leaves the lower half where it is; others may move.
  // Requires: `range` is not empty. Cost: constant for a range seen before, else O(log s) for s
  // segments of the memory, and the segments that the range covers.
  Piece* locate(MemoryId memory, ByteRange range) {
    Piece* const known = find(memory, range);
    return known != nullptr ? known : locate_anew(memory, range);
  }

  // The same where the range is known to be no segment.
  Piece* locate_anew(MemoryId memory, ByteRange range);

  // The one that begins where `segment` ends; never nullptr but for the last of a located range.
  Piece* next_of(const Piece& segment) { return table_.find(segment.memory(), segment.end); }

  // See BasicSegmentTable: what find() reads first, and what that says is most likely the segment.
  const uint32_t* slot(MemoryId memory, ByteRange range) const {
    return table_.slot(memory.index, range.begin);
  }
  Piece& likeliest(uint32_t slot) { return table_.likeliest(slot); }

  // Fetch what find() needs, in two steps: the second waits for the first.
  void prefetch_slot(MemoryId memory, ByteRange range) const {
    table_.prefetch_slot(memory.index, range.begin);
  }
  void prefetch_segment(MemoryId memory, ByteRange range) const {
    table_.prefetch_segment(memory.index, range.begin);
  }

  size_t segment_count() const { return table_.size(); }

  // The bytes in which what is accessed is looked up.
  size_t lookup_bytes() const { return table_.lookup_bytes(); }

 protected:
  static constexpr size_t kMinSweepLimit = size_t{1} << 14;

  // One in so many is often: by chance a ghost comes back once in 256 at most (GhostFilter).
  static constexpr size_t kOften = 64;

  // The segment that has this byte, or nullptr.
  Piece* holder_of(MemoryId memory, uint64_t offset);

  // Removes cuts inside `range` for which `tells_nothing_apart(lower, upper)`; before that
  // `prepare(segment)` sees either. Requires: the range was located. Cost: O(log s) and the
  // segments that the range covers; segments move.
  template <typename Prepare, typename TellsNothingApart>
  void join(MemoryId memory, ByteRange range, const Prepare& prepare,
            const TellsNothingApart& tells_nothing_apart);

  // Whether enough of what was let go of before the last sweep has come back since.
  bool comes_back() const {
    return ghosts_back_ > 0 && ghosts_back_ * kGhostShare * kOften >= new_count_;
  }

  // Of what is let go of from now on some is remembered.
  void begin_sweep() { ghosts_.reserve(4 * sweep_limit_ / kGhostShare); }
  void let_go(const Piece& segment) {
    const uint64_t hash = SegmentTable::hash_of(segment.memory(), segment.begin);
    if (can_be_ghost(hash)) ghosts_.add(hash);
  }

  // Starts anew with these segments. The next sweep is due at `least_limit` segments, or more.
  void restart(const std::vector<Piece>& kept, size_t least_limit);

  size_t cuts_size_bytes() const {
    return table_.size_bytes() + order_.size_bytes() + ghosts_.size_bytes();
  }

  BasicSegmentTable<Piece> table_;
  size_t sweep_limit_ = kMinSweepLimit;
  size_t least_limit_ = kMinSweepLimit;

 private:
  // Of what is forgotten one in so many is remembered, by its hash: enough to tell how often it
  // comes back, and little enough to stay in the caches of a core. Nothing else depends on these
  // bits.
  static constexpr size_t kGhostShare = 8;
  static bool can_be_ghost(uint64_t hash) { return (hash >> 29) % kGhostShare == 0; }

  Map& map() { return static_cast<Map&>(*this); }
  Piece* split(Piece* segment, uint64_t offset);
  Piece* insert(const Piece& segment);
  Piece* insert_in_table(const Piece& segment);

  SegmentOrder order_;
  GhostFilter ghosts_;
  size_t ghosts_back_ = 0;  // Since the last sweep.
  size_t new_count_ = 0;
};

template <typename Map, typename Piece>
Piece* SegmentCuts<Map, Piece>::locate_anew(MemoryId memory, ByteRange range) {
  INTERLOCK_CHECK(memory.is_some());
  if (order_.enter_if_apart(memory, range)) {
    return insert_in_table(Piece::of(memory.index, range));
  }
  Piece* current = table_.find(memory.index, range.begin);
  if (current == nullptr) {
    Piece* const holder = holder_of(memory, range.begin);
    if (holder != nullptr) current = split(holder, range.begin);
  }
  for (uint64_t at = range.begin; at < range.end;) {
    if (current == nullptr) {
      const uint64_t end = std::min(range.end, order_.first_after(memory, at));
      current = insert(Piece::of(memory.index, {at, end}));
    }
    at = current->end;
    if (at > range.end) split(current, range.end);
    if (at < range.end) current = table_.find(memory.index, at);
  }
  return table_.find(memory.index, range.begin);
}

template <typename Map, typename Piece>
Piece* SegmentCuts<Map, Piece>::holder_of(MemoryId memory, uint64_t offset) {
  const uint64_t begin = order_.last_until(memory, offset);
  if (begin == SegmentOrder::kNowhere) return nullptr;
  Piece* const segment = table_.find(memory.index, begin);
  return segment != nullptr && offset < segment->end ? segment : nullptr;
}

// Cuts the segment at `offset`; returns the upper half. Requires: `offset` lies inside the segment,
// not at its begin.
template <typename Map, typename Piece>
Piece* SegmentCuts<Map, Piece>::split(Piece* segment, uint64_t offset) {
  map().begin_cut(*segment);
  Piece upper = *segment;
  map().end_cut(upper);
  upper.begin = offset;
  segment->end = offset;
  return insert(upper);
}

template <typename Map, typename Piece>
Piece* SegmentCuts<Map, Piece>::insert(const Piece& segment) {
  order_.enter(MemoryId(segment.memory()), segment.begin);
  return insert_in_table(segment);
}

template <typename Map, typename Piece>
Piece* SegmentCuts<Map, Piece>::insert_in_table(const Piece& segment) {
  ++new_count_;
  const uint64_t hash = SegmentTable::hash_of(segment.memory(), segment.begin);
  if (can_be_ghost(hash)) ghosts_back_ += ghosts_.contains(hash);
  Piece* const result = table_.insert(segment);
  map().note_new(*result);
  return result;
}

template <typename Map, typename Piece>
template <typename Prepare, typename TellsNothingApart>
void SegmentCuts<Map, Piece>::join(MemoryId memory, ByteRange range, const Prepare& prepare,
                                   const TellsNothingApart& tells_nothing_apart) {
  // Another range of the dispatch may have taken the cut where this one begins.
  uint64_t kept_begin = holder_of(memory, range.begin)->begin;
  for (;;) {
    Piece kept = *table_.find(memory.index, kept_begin);
    prepare(kept);
    const uint64_t kept_end = kept.end;
    size_t removed_count = 0;
    while (kept.end < range.end) {
      Piece* const next = next_of(kept);
      prepare(*next);
      if (!tells_nothing_apart(kept, *next)) break;
      kept.end = next->end;
      table_.erase(next);
      ++removed_count;
    }
    *table_.find(memory.index, kept_begin) = kept;
    order_.erase(memory, kept_end, kept.end, removed_count);
    if (kept.end >= range.end) return;
    kept_begin = kept.end;
  }
}

template <typename Map, typename Piece>
void SegmentCuts<Map, Piece>::restart(const std::vector<Piece>& kept, size_t least_limit) {
  least_limit_ = least_limit;
  sweep_limit_ = std::max({least_limit_, 2 * kept.size(), order_.memory_count()});
  table_.rebuild(std::max(kept.size(), kMinSweepLimit));
  for (const Piece& segment : kept) table_.insert(segment);
  order_.restart(kept, table_);
  ghosts_back_ = new_count_ = 0;
}

}  // namespace interlock
