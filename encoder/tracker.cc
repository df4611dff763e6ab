// The basic idea is that every memory is a list of adjoining segments, cut wherever an access began
// or ended, and that a segment carries the epoch of its last use: a barrier is then one increment,
// and nothing is ever cleared. A memo leads from the begin of an access straight to its first
// segment. A cut keeps the lower half under its old id, so memo entries survive cuts; where they do
// not survive (segments are merged), the segment itself tells that it is not what was asked for.
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
  // All ranges are queried before any is recorded: a dispatch does not conflict with itself.
  hints_.clear();
  bool is_conflict = false;
  for (const Access& access : accesses) {
    const uint32_t first = access.range.is_empty() ? kNone : segment_with(access);
    hints_.push_back(first);
    if (!is_conflict && first != kNone) is_conflict = conflicts(first, access, atomic_op);
  }
  if (is_conflict) begin_epoch();
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (hints_[i] == kNone) continue;
    record(segment_from(accesses[i], hints_[i]), accesses[i], atomic_op);
  }
  return is_conflict;
}

bool HazardTracker::begins_at(uint32_t segment, const Access& access) const {
  return segments_[segment].memory == access.memory.index &&
         segments_[segment].range.begin == access.range.begin;
}

// The segment that holds the first byte of the access.
uint32_t HazardTracker::segment_with(const Access& access) {
  const uint64_t hash = SegmentMemo::hash_of(access.memory.index, access.range.begin);
  const uint32_t known =
      memo_.find(hash, [&](uint32_t segment) { return begins_at(segment, access); });
  if (known != SegmentMemo::kNone) return known;
  const uint32_t holder = tracked(access.memory).index.find(access.range.begin);
  if (begins_at(holder, access)) memorize(holder);
  return holder;
}

// The segment that begins where the access does; cuts one if there is none. `hint` held the first
// byte of the access before other accesses of its dispatch were recorded, which may have moved it.
uint32_t HazardTracker::segment_from(const Access& access, uint32_t hint) {
  if (begins_at(hint, access)) return hint;
  const bool still_holds_it = segments_[hint].memory == access.memory.index &&
                              segments_[hint].range.begin < access.range.begin &&
                              access.range.begin < segments_[hint].range.end;
  const uint32_t holder = still_holds_it ? hint : segment_with(access);
  if (begins_at(holder, access)) return holder;
  const uint32_t first = split(holder, access.range.begin);
  memorize(first);
  return first;
}

void HazardTracker::memorize(uint32_t segment) {
  const auto store = [this](uint32_t id) {
    memo_.store(SegmentMemo::hash_of(segments_[id].memory, segments_[id].range.begin), id);
  };
  if (memo_.is_full()) {
    memo_.reset(segment_count());
    for (uint32_t id = 0; id < segments_.size(); ++id) {
      if (segments_[id].memory != kNone && id != segment) store(id);
    }
  }
  store(segment);
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

bool HazardTracker::conflicts(uint32_t first, const Access& access, AtomicOp atomic_op) const {
  for (uint32_t current = first;; current = segments_[current].next) {
    const Segment& segment = segments_[current];
    if (segment.epoch == epoch_) {
      const bool both_read = segment.use == Use::kRead && access.only_reads();
      const bool same_atomic = segment.use == Use::kAtomic && access.is_atomic() &&
                               segment.atomic_op == atomic_op && atomic_op != AtomicOp::kNone;
      if (!both_read && !same_atomic) return true;
    }
    if (segment.range.end >= access.range.end) return false;
  }
}

void HazardTracker::use(Segment& segment, Use use, AtomicOp atomic_op) const {
  const bool is_mixture = segment.epoch == epoch_ && segment.use != use;
  segment.use = is_mixture ? Use::kWrite : use;
  segment.atomic_op = segment.use == Use::kAtomic ? atomic_op : AtomicOp::kNone;
  segment.epoch = epoch_;
}

// Requires: `first` begins where the access does.
void HazardTracker::record(uint32_t first, const Access& access, AtomicOp atomic_op) {
  const Use new_use = access.only_reads()  ? Use::kRead
                      : access.is_atomic() ? Use::kAtomic
                                           : Use::kWrite;
  int walked_count = 0;
  for (uint32_t current = first;; current = segments_[current].next) {
    if (segments_[current].range.end > access.range.end) split(current, access.range.end);
    use(segments_[current], new_use, atomic_op);
    ++walked_count;
    if (segments_[current].range.end == access.range.end) break;
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
  sweep_limit_ = std::max(kMinSweepLimit, 2 * segment_count());
}

}  // namespace interlock
