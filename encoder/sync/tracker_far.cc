// Ranges that are known, and so many that no cache of a core holds their segments (kFarBytes).

#include <array>

#include "encoder/sync/tracker.h"

namespace interlock {

// What is far is fetched ahead: all slots, then all segments. A core goes on to the next dispatch
// while this one's are on their way, as far as it has room for instructions: so each is worth
// avoiding, and a branch on what a segment says would make the core wait for that segment.
template <typename Codes>
[[gnu::always_inline]] inline HazardTracker::Known HazardTracker::add_far(
    std::span<const Access> ranges, const Codes& codes) {
  std::array<const uint32_t*, kMostKnown> slots;
  const uint32_t** next_slot = slots.data();
  for (const Access& access : ranges) {
    const uint32_t* const slot = segments_.slot(access.memory, access.range);
    __builtin_prefetch(slot);
    *next_slot++ = slot;
  }
  std::array<Segment*, kMostKnown> segments;
  for (size_t i = 0; i < ranges.size(); ++i) {
    segments[i] = &segments_.likeliest(*slots[i]);
    __builtin_prefetch(segments[i]);
  }
  const uint32_t epoch = epoch_;
  std::array<uint32_t*, kMostKnown> stamps;
  uint32_t** next_stamp = stamps.data();
  uint32_t conflict_count = 0;
  Segment* const* next_segment = segments.data();
  for (const Access& access : ranges) {
    Segment& segment = **next_segment++;
    uint32_t* stamp = &segment.stamp;
    const bool is_it = segment.begin == access.range.begin && segment.end == access.range.end &&
                       segment.inverse_memory == ~access.memory.index &&
                       segment.owner == Segment::kNone;
    if (!is_it) [[unlikely]] {
      stamp = find_stamp(access);
      if (stamp == nullptr) return Known::kNot;
    }
    conflict_count += codes.conflicts(*stamp, access.mode, epoch);
    *next_stamp++ = stamp;
  }
  if (conflict_count > 0 && begins_list()) return Known::kBeginsList;
  const uint32_t new_epoch = epoch_;
  next_stamp = stamps.data();
  for (const Access& access : ranges) {
    uint32_t& stamp = **next_stamp++;
    stamp = codes.stamp_after(stamp, access.mode, new_epoch);
  }
  access_count_ += ranges.size();
  looks_up_ranges_ = true;
  return conflict_count > 0 ? Known::kConflicts : Known::kIsFree;
}

// These are apart from the rest, so that they save no registers twice, and no others than their
// own.

bool HazardTracker::look_up_far(std::span<const Access> ranges, AtomicOp atomic_op) {
  if (ranges.size() > kMostKnown) return add_indexed(ranges, {}, atomic_op);
  if (atomic_op != AtomicOp::kNone) return look_up_far_atomics(ranges, atomic_op);
  return end_far(add_far(ranges, PlainCodes()), ranges, atomic_op);
}

bool HazardTracker::look_up_far_atomics(std::span<const Access> ranges, AtomicOp atomic_op) {
  return end_far(add_far(ranges, AccessCodes(atomic_op)), ranges, atomic_op);
}

inline bool HazardTracker::end_far(Known known, std::span<const Access> ranges,
                                   AtomicOp atomic_op) {
  if (known == Known::kIsFree) return false;
  return known == Known::kConflicts || add_otherwise(known, ranges, atomic_op);
}

bool HazardTracker::add_otherwise(Known known, std::span<const Access> ranges, AtomicOp atomic_op) {
  if (known == Known::kNot) return add_indexed(ranges, {}, atomic_op);
  list(ranges, {}, atomic_op);
  return true;
}

}  // namespace interlock
