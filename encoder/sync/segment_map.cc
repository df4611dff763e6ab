// The basic idea is that most ranges come again: a range that was seen before is found by one look
// into the table. One that comes for the first time and shares no byte with another is entered as
// it is; any other is found through an ordered index of where segments begin, and cut.
//
// A sweep removes what tells nothing apart any more. Where what it removed before keeps coming
// back, it lets go only of what was not used since the last sweep, and lets the table grow.

#include "encoder/sync/segment_map.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {
namespace {

// A sweep is worth while when one in so many could go, of what lies in so many slots. Pieces of one
// epoch that are alike are made one only where most are: the same ranges may come again.
constexpr size_t kSampleShare = 8;
constexpr size_t kSampleSlots = 1024;

// Of what is forgotten one in so many is remembered, by its hash: enough to tell how often it comes
// back, and little enough to stay in the caches of a core. Nothing else depends on these bits.
constexpr size_t kGhostShare = 8;
bool can_be_ghost(uint64_t hash) { return (hash >> 29) % kGhostShare == 0; }

// One in so many is often: by chance a ghost comes back once in 256 at most (GhostFilter).
constexpr size_t kOften = 64;

}  // namespace

Segment* SegmentMap::locate_anew(MemoryId memory, ByteRange range) {
  INTERLOCK_CHECK(memory.is_some());
  if (order_.enter_if_apart(memory, range)) {
    return insert_in_table(Segment::of(memory.index, range));
  }
  Segment* current = table_.find(memory.index, range.begin);
  if (current == nullptr) {
    Segment* const holder = holder_of(memory, range.begin);
    if (holder != nullptr) current = split(holder, range.begin);
  }
  for (uint64_t at = range.begin; at < range.end;) {
    if (current == nullptr) {
      const uint64_t end = std::min(range.end, order_.first_after(memory, at));
      current = insert(Segment::of(memory.index, {at, end}));
    }
    at = current->end;
    if (at > range.end) split(current, range.end);
    if (at < range.end) current = table_.find(memory.index, at);
  }
  return table_.find(memory.index, range.begin);
}

// The segment that has this byte, or nullptr.
Segment* SegmentMap::holder_of(MemoryId memory, uint64_t offset) {
  const uint64_t begin = order_.last_until(memory, offset);
  if (begin == SegmentOrder::kNowhere) return nullptr;
  Segment* const segment = table_.find(memory.index, begin);
  return segment != nullptr && offset < segment->end ? segment : nullptr;
}

// Cuts the segment at `offset`; returns the upper half. Requires: `offset` lies inside the segment,
// not at its begin.
Segment* SegmentMap::split(Segment* segment, uint64_t offset) {
  if (segment->owner != Segment::kNone) take_back(segment->owner);
  Segment upper = *segment;
  upper.begin = offset;
  segment->end = offset;
  return insert(upper);
}

Segment* SegmentMap::insert(const Segment& segment) {
  order_.enter(MemoryId(segment.memory()), segment.begin);
  return insert_in_table(segment);
}

Segment* SegmentMap::insert_in_table(const Segment& segment) {
  ++new_count_;
  const uint64_t hash = SegmentTable::hash_of(segment.memory(), segment.begin);
  if (can_be_ghost(hash)) ghosts_back_ += ghosts_.contains(hash);
  Segment* const result = table_.insert(segment);
  result->sweep = sweep_count_;
  return result;
}

void SegmentMap::give_if_apart(uint32_t buffer) {
  const BufferTable::Bytes& bytes = buffers.bytes(buffer);
  if (bytes.range.is_empty() || buffers.is_exclusive(buffer)) return;
  Segment* const segment = table_.find(bytes.memory.index, bytes.range.begin);
  if (segment->end != bytes.range.end || segment->owner != Segment::kNone) return;
  segment->owner = buffer;
  buffers.make_exclusive(buffer, segment->stamp);
}

void SegmentMap::take_back(uint32_t buffer) {
  const BufferTable::Bytes& bytes = buffers.bytes(buffer);
  Segment* const segment = table_.find(bytes.memory.index, bytes.range.begin);
  INTERLOCK_CHECK(segment != nullptr && segment->owner == buffer);
  segment->stamp = buffers.stamp(buffer);
  segment->owner = Segment::kNone;
  buffers.make_shared(buffer);
}

// Whether the cut between the two may go.
inline bool tells_nothing_apart(const Segment& lower, const Segment& upper, uint32_t oldest_stamp) {
  const bool is_owned = lower.owner != Segment::kNone || upper.owner != Segment::kNone;
  const bool are_both_old = lower.stamp < oldest_stamp && upper.stamp < oldest_stamp;
  return !is_owned && (lower.stamp == upper.stamp || are_both_old);
}

void SegmentMap::merge(MemoryId memory, ByteRange range, uint32_t oldest_stamp) {
  // Another range of the dispatch may have taken the cut where this one begins.
  uint64_t kept_begin = holder_of(memory, range.begin)->begin;
  for (;;) {
    Segment kept = *table_.find(memory.index, kept_begin);
    const uint64_t kept_end = kept.end;
    size_t removed_count = 0;
    while (kept.end < range.end) {
      Segment* const next = next_of(kept);
      if (!tells_nothing_apart(kept, *next, oldest_stamp)) break;
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

void SegmentMap::forget_stamps() {
  table_.for_each([](Segment& segment) { segment.stamp = 0; });
  buffers.forget_stamps();
  last_sweep_stamp_ = 0;
}

// A sweep takes as long whether it removes anything or not, so a sample is asked first: while an
// epoch is long, nothing can go.
void SegmentMap::sweep_or_wait(uint32_t oldest_stamp) {
  size_t old_count = 0;
  size_t alike_count = 0;
  const size_t visited = table_.for_some(kSampleSlots, [&](const Segment& segment) {
    if (segment.owner != Segment::kNone) return;
    old_count += segment.stamp < oldest_stamp;
    const Segment* const next = table_.find(segment.memory(), segment.end);
    alike_count += next != nullptr && tells_nothing_apart(segment, *next, oldest_stamp);
  });
  const bool are_many_alike = 4 * alike_count >= 3 * visited;
  if (are_many_alike || old_count * kSampleShare >= visited) {
    sweep(oldest_stamp, are_many_alike);
  } else {
    sweep_limit_ = 2 * segment_count();
  }
}

// Whether segments that were used since the last sweep are likely to be used again: those that were
// let go come back, or those that were kept have been used.
bool SegmentMap::are_recent_to_stay(bool comes_back) {
  if (comes_back) return true;
  if (!keeps_recent_) return false;
  size_t used_again_count = 0;
  table_.for_each([&](const Segment& segment) {
    used_again_count += segment.sweep < sweep_count_ && stamp_of(segment) >= last_sweep_stamp_;
  });
  return used_again_count * kOften >= table_.size();
}

void SegmentMap::sweep(uint32_t oldest_stamp, bool absorbs) {
  const bool comes_back = ghosts_back_ > 0 && ghosts_back_ * kGhostShare * kOften >= new_count_;
  keeps_recent_ = are_recent_to_stay(comes_back);
  ghosts_.reserve(4 * sweep_limit_ / kGhostShare);
  std::vector<Segment> kept;
  if (keeps_recent_) {
    kept = all_used_since(last_sweep_stamp_);
  } else {
    if (absorbs) absorb_what_is_alike(oldest_stamp);
    kept = all_used_since(oldest_stamp);
  }
  least_limit_ = comes_back ? 2 * std::max(least_limit_, kept.size())
                            : std::max(kMinSweepLimit, least_limit_ / 2);
  sweep_limit_ = std::max({least_limit_, 2 * kept.size(), order_.memory_count()});
  table_.rebuild(std::max(kept.size(), kMinSweepLimit));
  for (const Segment& segment : kept) table_.insert(segment);
  order_.restart(kept, table_);
  ++sweep_count_;
  last_sweep_stamp_ = oldest_stamp;
  ghosts_back_ = new_count_ = 0;
}

// Makes one segment of those of this epoch that adjoin and tell nothing apart. The others are left
// in the table, marked by their `sweep`.
void SegmentMap::absorb_what_is_alike(uint32_t oldest_stamp) {
  const auto absorbed_by = [&](const Segment& segment) -> Segment* {
    Segment* const next = table_.find(segment.memory(), segment.end);
    return next != nullptr && tells_nothing_apart(segment, *next, oldest_stamp) ? next : nullptr;
  };
  const auto stays = [&](const Segment& segment) {
    return segment.owner == Segment::kNone && segment.stamp >= oldest_stamp;
  };
  // What is absorbed is known before anything has changed.
  table_.for_each([&](Segment& segment) {
    if (!stays(segment)) return;
    Segment* const next = absorbed_by(segment);
    if (next != nullptr) next->sweep = Segment::kNone;
  });
  table_.for_each([&](Segment& segment) {
    if (!stays(segment) || segment.sweep == Segment::kNone) return;
    for (;;) {
      const Segment* const next = table_.find(segment.memory(), segment.end);
      if (next == nullptr || next->sweep != Segment::kNone) return;
      segment.end = next->end;
    }
  });
}

// Also those that are owned. What is left out may become a ghost.
std::vector<Segment> SegmentMap::all_used_since(uint32_t oldest_stamp) {
  std::vector<Segment> result;
  table_.for_each([&](const Segment& segment) {
    const bool is_used = segment.owner != Segment::kNone || segment.stamp >= oldest_stamp;
    if (is_used && segment.sweep != Segment::kNone) {
      result.push_back(segment);
      return;
    }
    const uint64_t hash = SegmentTable::hash_of(segment.memory(), segment.begin);
    if (can_be_ghost(hash)) ghosts_.add(hash);
  });
  return result;
}

size_t SegmentMap::size_bytes() const {
  return table_.size_bytes() + order_.size_bytes() + ghosts_.size_bytes() + buffers.size_bytes();
}

}  // namespace interlock
