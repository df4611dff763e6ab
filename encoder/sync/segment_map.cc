// The basic idea is that most ranges come again. A range that comes for the first time is found
// through an ordered index, one that comes for the second time is remembered in the memo, and from
// then on it is a single probe; so ranges that never come again leave no trace in the memo. A
// segment tells whether it is what was asked for, hence nothing that merges or reuses segments has
// to tell the memo.

#include "encoder/sync/segment_map.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {
namespace {

// A memory of no more segments needs no index.
constexpr size_t kMaxUnindexedWalk = 8;

constexpr size_t kPrefetchDistance = 16;  // Steps of a sweep.

}  // namespace

// `known` begins where the range does, or is kNone.
uint32_t SegmentMap::locate_anew(MemoryId memory, ByteRange range, uint32_t tag, uint32_t known) {
  uint32_t first = known;
  if (first == kNone) {
    first = holder_of(memory, range.begin);
    if (segments_[first].begin == range.begin) {
      memorize(tag, first);
    } else {
      first = split(first, range.begin);
    }
  }
  uint32_t last = first;
  while (segments_[last].end < range.end) last = segments_[last].next;
  if (segments_[last].end > range.end) split(last, range.end);
  return first;
}

uint32_t SegmentMap::holder_of(MemoryId memory, uint64_t offset) {
  INTERLOCK_CHECK(memory.is_some());
  if (memory.index >= memories_.size()) memories_.resize(memory.index + size_t{1});
  MemorySegments& all = memories_[memory.index];
  if (all.first == kNone) all.first = new_segment({0, UINT64_MAX, 0, memory.index, kNone});
  if (all.index.root == BoundaryIndex::kNone) {
    uint32_t current = all.first;
    for (size_t i = 0; i < kMaxUnindexedWalk; ++i) {
      if (offset < segments_[current].end) return current;
      current = segments_[current].next;
    }
    for (current = all.first; current != kNone; current = segments_[current].next) {
      index_.insert(all.index, segments_[current].begin, current);
    }
  }
  return index_.find(all.index, offset);
}

uint32_t SegmentMap::cut(MemoryId memory, uint64_t offset) {
  const uint32_t holder = holder_of(memory, offset);
  return segments_[holder].begin == offset ? holder : split(holder, offset);
}

// Cuts the segment at `offset`; returns the upper half. Requires: `offset` lies inside the segment,
// not at its begin.
uint32_t SegmentMap::split(uint32_t id, uint64_t offset) {
  Segment upper = segments_[id];
  upper.begin = offset;
  const uint32_t upper_id = new_segment(upper);
  segments_[id].end = offset;
  segments_[id].next = upper_id;
  BoundaryIndex::Tree& index = memories_[upper.memory].index;
  if (index.root != BoundaryIndex::kNone) index_.insert(index, offset, upper_id);
  return upper_id;
}

uint32_t SegmentMap::new_segment(const Segment& segment) {
  if (first_free_ != kNone) {
    const uint32_t id = first_free_;
    first_free_ = segments_[id].next;
    --free_count_;
    segments_[id] = segment;
    return id;
  }
  INTERLOCK_CHECK(segments_.size() < kNone);
  segments_.push_back(segment);
  pin_counts_.push_back(0);
  return static_cast<uint32_t>(segments_.size() - 1);
}

void SegmentMap::free_segment(uint32_t id) {
  segments_[id].memory = kNone;
  segments_[id].next = first_free_;
  first_free_ = id;
  ++free_count_;
}

void SegmentMap::memorize(uint32_t tag, uint32_t id) {
  if (memo_.is_full()) {
    memo_.rebuild([this](uint32_t stored_tag, uint32_t stored_id) {
      const Segment& segment = segments_[stored_id];
      return segment.memory != kNone &&
             SegmentMemo::tag_of(segment.memory, segment.begin) == stored_tag;
    });
  }
  memo_.store(tag, id);
}

uint32_t SegmentMap::pin(MemoryId memory, uint64_t offset) {
  const uint32_t id = cut(memory, offset);
  ++pin_counts_[id];
  return id;
}

void SegmentMap::unpin(uint32_t id) {
  INTERLOCK_CHECK(pin_counts_[id] > 0);
  --pin_counts_[id];
}

// Merges `id` into `kept`, the segment before it, if that loses nothing; true iff it does.
inline bool SegmentMap::absorb(uint32_t kept, uint32_t id, uint64_t oldest_stamp) {
  Segment& lower = segments_[kept];
  const Segment& upper = segments_[id];
  const bool are_both_old = lower.stamp < oldest_stamp && upper.stamp < oldest_stamp;
  if (pin_counts_[id] > 0 || (lower.stamp != upper.stamp && !are_both_old)) return false;
  lower.end = upper.end;
  lower.next = upper.next;
  free_segment(id);
  return true;
}

void SegmentMap::merge(MemoryId memory, ByteRange range, uint64_t oldest_stamp) {
  BoundaryIndex::Tree& index = memories_[memory.index].index;
  uint32_t kept = holder_of(memory, range.begin);
  while (segments_[kept].end < range.end) {
    const uint64_t kept_end = segments_[kept].end;
    while (segments_[kept].end < range.end && absorb(kept, segments_[kept].next, oldest_stamp)) {
    }
    index_.erase(index, kept_end, segments_[kept].end);
    if (segments_[kept].end < range.end) kept = segments_[kept].next;
  }
}

// All segments, those of a memory together and in ascending order.
void SegmentMap::append_all(std::vector<uint32_t>& ids) const {
  for (const MemorySegments& memory : memories_) {
    if (memory.index.root != BoundaryIndex::kNone) {
      index_.append_all(memory.index, ids);
      continue;
    }
    for (uint32_t id = memory.first; id != kNone; id = segments_[id].next) ids.push_back(id);
  }
}

// Where segments lie has nothing to do with their order, and to follow `next` would wait for memory
// at each; so the order is taken from the index, and the segments ahead are fetched meanwhile.
void SegmentMap::sweep(uint64_t oldest_stamp) {
  std::vector<uint32_t>& ids = swept_;
  ids.clear();
  append_all(ids);
  index_.clear();
  size_t kept_count = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const size_t ahead = std::min(i + kPrefetchDistance, ids.size() - 1);
    __builtin_prefetch(&segments_[ids[ahead]]);
    __builtin_prefetch(&pin_counts_[ids[ahead]]);
    const bool is_first = segments_[ids[i]].begin == 0;
    if (is_first) memories_[segments_[ids[i]].memory].index = {};
    if (is_first || !absorb(ids[kept_count - 1], ids[i], oldest_stamp)) ids[kept_count++] = ids[i];
  }
  ids.resize(kept_count);
  rebuild_index(ids, oldest_stamp);
  sweep_limit_ = std::max({kMinSweepLimit, 2 * segment_count(), memories_.size()});
}

// Enters the segments of memories that have many, and forgets memories that have one unused.
void SegmentMap::rebuild_index(const std::vector<uint32_t>& ids, uint64_t oldest_stamp) {
  for (size_t first = 0, behind = 0; first < ids.size(); first = behind) {
    for (++behind; behind < ids.size() && segments_[ids[behind]].begin != 0;) ++behind;
    MemorySegments& memory = memories_[segments_[ids[first]].memory];
    for (size_t i = first; i < behind && behind - first > kMaxUnindexedWalk; ++i) {
      __builtin_prefetch(&segments_[ids[std::min(i + kPrefetchDistance, behind - 1)]]);
      index_.insert(memory.index, segments_[ids[i]].begin, ids[i]);
    }
    const bool is_unused = segments_[ids[first]].stamp < oldest_stamp;
    if (behind - first == 1 && is_unused && pin_counts_[ids[first]] == 0) {
      free_segment(ids[first]);
      memory.first = kNone;
    }
  }
}

size_t SegmentMap::size_bytes() const {
  return memories_.capacity() * sizeof(MemorySegments) + segments_.capacity() * sizeof(Segment) +
         pin_counts_.capacity() * sizeof(uint32_t) + swept_.capacity() * sizeof(uint32_t) +
         memo_.size_bytes() + index_.size_bytes();
}

}  // namespace interlock
