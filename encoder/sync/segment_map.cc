// Where what a sweep removed before keeps coming back, it lets go only of what was not used since
// the last sweep, and lets the table grow.

#include "encoder/sync/segment_map.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {

template class SegmentCuts<SegmentMap, Segment>;

namespace {

// A sweep is worth while when one in so many could go, of what lies in so many slots. Pieces of one
// epoch that are alike are made one only where most are: the same ranges may come again.
constexpr size_t kSampleShare = 8;
constexpr size_t kSampleSlots = 1024;

}  // namespace

void SegmentMap::give_if_apart(uint32_t buffer) {
  const BufferTable::Bytes bytes = buffers.bytes(buffer);
  if (bytes.range.is_empty() || buffers.is_exclusive(buffer)) return;
  Segment* const segment = table_.find(bytes.memory.index, bytes.range.begin);
  if (segment->end != bytes.range.end || segment->owner != Segment::kNone) return;
  segment->owner = buffer;
  buffers.make_exclusive(buffer, segment->stamp);
}

void SegmentMap::take_back(uint32_t buffer) {
  const BufferTable::Bytes bytes = buffers.bytes(buffer);
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
  join(
      memory, range, [](const Segment& /*segment*/) {},
      [oldest_stamp](const Segment& lower, const Segment& upper) {
        return tells_nothing_apart(lower, upper, oldest_stamp);
      });
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
bool SegmentMap::are_recent_to_stay(bool has_ghosts_back) {
  if (has_ghosts_back) return true;
  if (!keeps_recent_) return false;
  size_t used_again_count = 0;
  table_.for_each([&](const Segment& segment) {
    used_again_count += segment.sweep < sweep_count_ && stamp_of(segment) >= last_sweep_stamp_;
  });
  return used_again_count * kOften >= table_.size();
}

void SegmentMap::sweep(uint32_t oldest_stamp, bool absorbs) {
  const bool has_ghosts_back = comes_back();
  keeps_recent_ = are_recent_to_stay(has_ghosts_back);
  begin_sweep();
  std::vector<Segment> kept;
  if (keeps_recent_) {
    kept = all_used_since(last_sweep_stamp_);
  } else {
    if (absorbs) absorb_what_is_alike(oldest_stamp);
    kept = all_used_since(oldest_stamp);
  }
  restart(kept, has_ghosts_back ? 2 * std::max(least_limit_, kept.size())
                                : std::max(kMinSweepLimit, least_limit_ / 2));
  ++sweep_count_;
  last_sweep_stamp_ = oldest_stamp;
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
    let_go(segment);
  });
  return result;
}

size_t SegmentMap::size_bytes() const { return cuts_size_bytes() + buffers.size_bytes(); }

}  // namespace interlock
