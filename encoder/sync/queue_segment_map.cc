// How ranges are found and cut is as in segment_map.cc. What differs is what goes away: there all
// that was used before a barrier, here what every queue is known to come after.

#include "encoder/sync/queue_segment_map.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {
QueueSegment* QueueSegmentMap::locate_anew(MemoryId memory, ByteRange range) {
  INTERLOCK_CHECK(memory.is_some());
  if (order_.enter_if_apart(memory, range)) {
    return insert_in_table(QueueSegment::of(memory.index, range));
  }
  QueueSegment* current = table_.find(memory.index, range.begin);
  if (current == nullptr) {
    QueueSegment* const holder = holder_of(memory, range.begin);
    if (holder != nullptr) current = split(holder, range.begin);
  }
  for (uint64_t at = range.begin; at < range.end;) {
    if (current == nullptr) {
      const uint64_t end = std::min(range.end, order_.first_after(memory, at));
      current = insert(QueueSegment::of(memory.index, {at, end}));
    }
    at = current->end;
    if (at > range.end) split(current, range.end);
    if (at < range.end) current = table_.find(memory.index, at);
  }
  return table_.find(memory.index, range.begin);
}

// The segment that has this byte, or nullptr.
QueueSegment* QueueSegmentMap::holder_of(MemoryId memory, uint64_t offset) {
  const uint64_t begin = order_.last_until(memory, offset);
  if (begin == SegmentOrder::kNowhere) return nullptr;
  QueueSegment* const segment = table_.find(memory.index, begin);
  return segment != nullptr && offset < segment->end ? segment : nullptr;
}

// Cuts the segment at `offset`; returns the upper half. Requires: `offset` lies inside the segment,
// not at its begin.
QueueSegment* QueueSegmentMap::split(QueueSegment* segment, uint64_t offset) {
  QueueSegment upper = *segment;
  uses.copy_uses(upper);
  upper.begin = offset;
  segment->end = offset;
  return insert(upper);
}

QueueSegment* QueueSegmentMap::insert(const QueueSegment& segment) {
  order_.enter(MemoryId(segment.memory()), segment.begin);
  return insert_in_table(segment);
}

QueueSegment* QueueSegmentMap::insert_in_table(const QueueSegment& segment) {
  ++new_count_;
  const uint64_t hash = SegmentTable::hash_of(segment.memory(), segment.begin);
  if (can_be_ghost(hash)) ghosts_back_ += ghosts_.contains(hash);
  return table_.insert(segment);
}

void QueueSegmentMap::forget_if_before(const uint64_t* known, QueueSegment& segment) {
  if (uses.are_before(known, segment)) uses.forget(segment);
}

void QueueSegmentMap::merge(MemoryId memory, ByteRange range, const uint64_t* known) {
  // Another range of the dispatch may have taken the cut where this one begins.
  uint64_t kept_begin = holder_of(memory, range.begin)->begin;
  for (;;) {
    QueueSegment kept = *table_.find(memory.index, kept_begin);
    forget_if_before(known, kept);
    const uint64_t kept_end = kept.end;
    size_t removed_count = 0;
    while (kept.end < range.end) {
      QueueSegment* const next = next_of(kept);
      forget_if_before(known, *next);
      if (!uses.are_alike(kept, *next)) break;
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

// Those that are not forgotten. What is may become a ghost.
std::vector<QueueSegment> QueueSegmentMap::take_those_after(const uint64_t* known) {
  std::vector<QueueSegment> result;
  table_.for_each([&](QueueSegment& segment) {
    if (!uses.are_before(known, segment)) {
      result.push_back(segment);
      return;
    }
    uses.forget(segment);
    const uint64_t hash = SegmentTable::hash_of(segment.memory(), segment.begin);
    if (can_be_ghost(hash)) ghosts_.add(hash);
  });
  return result;
}

// Where what was forgotten keeps coming back, the table grows.
void QueueSegmentMap::sweep(const uint64_t* known) {
  if (!table_.has_room()) return table_.rebuild(0);
  const bool comes_back = ghosts_back_ > 0 && ghosts_back_ * kGhostShare * kOften >= new_count_;
  ghosts_.reserve(4 * sweep_limit_ / kGhostShare);
  const std::vector<QueueSegment> kept = take_those_after(known);
  least_limit_ = comes_back ? 2 * least_limit_ : std::max(kMinSweepLimit, least_limit_ / 2);
  sweep_limit_ = std::max({least_limit_, 2 * kept.size(), order_.memory_count()});
  table_.rebuild(std::max(kept.size(), kMinSweepLimit));
  for (const QueueSegment& segment : kept) table_.insert(segment);
  order_.restart(kept, table_);
  ghosts_back_ = new_count_ = 0;
}

size_t QueueSegmentMap::size_bytes() const {
  return table_.size_bytes() + order_.size_bytes() + ghosts_.size_bytes() + uses.size_bytes();
}

}  // namespace interlock
