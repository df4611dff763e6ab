// The basic idea is that every memory is a list of adjoining segments, cut wherever an access began
// or ended, and that a segment carries the epoch of its last use: a barrier is then one increment,
// and nothing is ever cleared. A memo leads from a range straight to its first segment. A cut keeps
// the lower half under its old id, so memo entries survive cuts; where they do not survive
// (segments are merged), the segment itself tells that it is not what was asked for.
//
// Merging keeps the walk short. Recording an access leaves all segments of its range alike, so a
// long walk ends in a single segment, and every segment that it removes was once paid for by a cut.

#include "encoder/tracker.h"

#include <algorithm>

#include "encoder/check.h"

namespace interlock {
namespace {

// Shorter walks are left alone: a program that names both a range and its parts would otherwise cut
// and merge forever.
constexpr int kMaxUnmergedWalk = 8;

}  // namespace

bool HazardTracker::add(std::span<const Access> accesses, AtomicOp atomic_op) {
  if (segment_count() > sweep_limit_) sweep();
  bool is_conflict = false;
  // All ranges are queried before any is recorded: a dispatch does not conflict with itself.
  for (const Access& access : accesses) {
    if (access.range.is_empty()) continue;
    if (conflicts(access, atomic_op)) {
      is_conflict = true;
      break;
    }
  }
  if (is_conflict) begin_epoch();
  for (const Access& access : accesses) {
    if (!access.range.is_empty()) record(access, atomic_op);
  }
  return is_conflict;
}

// The remembered segment if it still begins where the access does, else kNone.
uint32_t HazardTracker::hint_for(const Access& access) const {
  const uint32_t hint = memo_.find(access.memory, access.range);
  if (hint == RangeMemo::kNone || hint >= segments_.size()) return kNone;
  const Segment& segment = segments_[hint];
  const bool is_current =
      segment.memory == access.memory.index && segment.range.begin == access.range.begin;
  return is_current ? hint : kNone;
}

HazardTracker::TrackedMemory& HazardTracker::tracked(MemoryId memory) {
  INTERLOCK_CHECK(memory.is_some());
  if (memory.index >= memories_.size()) memories_.resize(memory.index + size_t{1});
  TrackedMemory& result = memories_[memory.index];
  if (result.first_segment == kNone) {
    Segment everything;
    everything.range = {0, UINT64_MAX};
    everything.memory = memory.index;
    everything.next = kNone;
    result.first_segment = new_segment(everything);
    result.index.insert(0, result.first_segment);
  }
  return result;
}

bool HazardTracker::conflicts(const Access& access, AtomicOp atomic_op) {
  uint32_t current = hint_for(access);
  if (current == kNone) current = tracked(access.memory).index.find(access.range.begin);
  while (true) {
    const Segment& segment = segments_[current];
    if (segment.epoch == epoch_) {
      const bool both_read = segment.use == Use::kRead && access.mode == AccessMode::kRead;
      const bool same_atomic = segment.use == Use::kAtomic && access.is_atomic() &&
                               segment.atomic_op == atomic_op && atomic_op != AtomicOp::kNone;
      if (!both_read && !same_atomic) return true;
    }
    if (segment.range.end >= access.range.end) return false;
    current = segment.next;
  }
}

void HazardTracker::record(const Access& access, AtomicOp atomic_op) {
  uint32_t first = hint_for(access);
  if (first == kNone) {
    first = tracked(access.memory).index.find(access.range.begin);
    if (segments_[first].range.begin < access.range.begin) {
      first = split(first, access.range.begin);
    }
    memo_.store(access.memory, access.range, first);
  }
  const Use use = access.mode == AccessMode::kRead ? Use::kRead
                  : access.is_atomic()             ? Use::kAtomic
                                                   : Use::kWrite;
  int walked_count = 0;
  for (uint32_t current = first;; current = segments_[current].next) {
    if (segments_[current].range.end > access.range.end) split(current, access.range.end);
    Segment& segment = segments_[current];
    const bool is_mixture = segment.epoch == epoch_ && segment.use != use;
    segment.use = is_mixture ? Use::kWrite : use;
    segment.atomic_op = segment.use == Use::kAtomic ? atomic_op : AtomicOp::kNone;
    segment.epoch = epoch_;
    ++walked_count;
    if (segment.range.end == access.range.end) break;
  }
  if (walked_count > kMaxUnmergedWalk) merge_alike(first, access.range.end);
}

uint32_t HazardTracker::new_segment(const Segment& segment) {
  if (!free_segments_.empty()) {
    const uint32_t id = free_segments_.back();
    free_segments_.pop_back();
    segments_[id] = segment;
    return id;
  }
  INTERLOCK_CHECK(segments_.size() < kNone);
  segments_.push_back(segment);
  return static_cast<uint32_t>(segments_.size() - 1);
}

// Cuts the segment at `offset`; returns the upper half. The lower half keeps the id. Requires:
// `offset` lies inside the segment, not at its begin.
uint32_t HazardTracker::split(uint32_t segment, uint64_t offset) {
  Segment upper = segments_[segment];
  upper.range.begin = offset;
  const uint32_t upper_id = new_segment(upper);
  segments_[segment].range.end = offset;
  segments_[segment].next = upper_id;
  memories_[upper.memory].index.insert(offset, upper_id);
  return upper_id;
}

// True iff no later access can tell the two apart.
bool HazardTracker::is_alike(const Segment& a, const Segment& b) const {
  if (a.epoch != epoch_ || b.epoch != epoch_) return a.epoch != epoch_ && b.epoch != epoch_;
  return a.use == b.use && a.atomic_op == b.atomic_op;
}

// Merges neighbours that are alike among the segments from `first` up to the byte `end`.
void HazardTracker::merge_alike(uint32_t first, uint64_t end) {
  const uint32_t memory = segments_[first].memory;
  uint32_t current = first;
  while (segments_[current].range.end < end) {
    Segment& kept = segments_[current];
    const uint64_t kept_end = kept.range.end;
    while (kept.range.end < end && is_alike(kept, segments_[kept.next])) {
      Segment& merged = segments_[kept.next];
      free_segments_.push_back(kept.next);
      kept.range.end = merged.range.end;
      kept.next = merged.next;
      merged.memory = kNone;
    }
    memories_[memory].index.erase(kept_end, kept.range.end);
    if (kept.range.end < end) current = kept.next;
  }
}

// Forgets cuts that tell nothing apart any more, so that a stream without end fits in memory.
void HazardTracker::sweep() {
  for (TrackedMemory& memory : memories_) {
    if (memory.first_segment != kNone) merge_alike(memory.first_segment, UINT64_MAX);
  }
  memo_.clear();
  sweep_limit_ = std::max(kMinSweepLimit, 2 * segment_count());
}

}  // namespace interlock
