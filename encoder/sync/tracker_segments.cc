// While epochs are long. The basic idea is that every memory is a list of adjoining segments, cut
// wherever an access began or ended, and that a segment carries the epoch of its last use: a
// barrier is then one increment, and nothing is ever cleared. A dispatch first cuts what it
// accesses and looks at the stamps, then stamps the same segments: cuts alone change no answer, so
// both passes walk the same segments.
//
// Merging keeps walks short. Recording an access leaves all segments of its range alike, so a long
// walk ends in a single segment, and every segment that it removes was once paid for by a cut.

#include <array>

#include "encoder/sync/tracker.h"

namespace interlock {
namespace {

// Shorter walks are left alone: to cut a part of a range again costs as much as so many steps, and
// many programs name both a range and its parts.
constexpr int kMaxUnmergedWalk = 32;

// The stamps of fewer buffers are near, whichever are used.
constexpr size_t kManyBufferBytes = size_t{1} << 19;

// To make a piece takes as long as so many steps of a walk.
constexpr size_t kStepsToMake = 16;

}  // namespace

// The ways that must be fast: if nothing is new and nothing is cut, they record the dispatch and
// say whether it conflicts, else they do nothing.

// What the caches hold takes as long as its instructions: nearly every range is the first segment
// that comes into question, which no buffer has, and all that says where is in registers.
template <typename Codes>
inline HazardTracker::Known HazardTracker::add_near(std::span<const Access> ranges,
                                                    const Codes& codes) {
  if (ranges.size() > kMostKnown) return Known::kNot;
  std::array<uint32_t*, kMostKnown> stamps;
  uint32_t** next_stamp = stamps.data();
  uint32_t conflict_count = 0;
  const uint32_t epoch = epoch_;
  static_assert(kFarBytes / sizeof(Segment) <= SegmentMap::Near::kMost);
  const SegmentMap::Near near = segments_.near();
  for (const Access& access : ranges) {
    Segment& likeliest = near.likeliest(access.memory.index, access.range.begin);
    uint32_t* stamp = &likeliest.stamp;
    const bool is_it = likeliest.begin == access.range.begin && likeliest.end == access.range.end &&
                       likeliest.inverse_memory == ~access.memory.index &&
                       likeliest.owner == Segment::kNone;
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

// The stamp of a range that is a segment, or nullptr. Apart, so that add_near() keeps its
// registers.
[[gnu::noinline]] uint32_t* HazardTracker::find_stamp(const Access& access) {
  Segment* const segment = segments_.find(access.memory, access.range);
  return segment == nullptr ? nullptr : &segments_.stamp_of(*segment);
}

template <typename Codes>
inline HazardTracker::Known HazardTracker::add_known(std::span<const BufferAccess> buffers,
                                                     const Codes& codes) {
  const uint32_t epoch = epoch_;
  uint32_t conflict_count = 0;
  for (const BufferAccess& access : buffers) {
    const uint32_t* const stamp = segments_.buffers.find_stamp(access.buffer);
    if (stamp == nullptr) return Known::kNot;
    conflict_count += codes.conflicts(*stamp, access.mode, epoch);
  }
  if (conflict_count > 0) {
    if (segments_.buffers.lookup_bytes() > kManyBufferBytes) note_first_uses(buffers);
    if (begins_list()) return Known::kBeginsList;
  }
  const uint32_t new_epoch = epoch_;
  for (const BufferAccess& access : buffers) {
    uint32_t& stamp = segments_.buffers.stamp(access.buffer.index);
    stamp = codes.stamp_after(stamp, access.mode, new_epoch);
  }
  access_count_ += buffers.size();
  looks_up_ranges_ = false;
  return conflict_count > 0 ? Known::kConflicts : Known::kIsFree;
}

// Of many buffers few may be in use, which the caches hold. All dispatches of an epoch count as the
// one after it: to ask of each would take a third of its time.
void HazardTracker::note_first_uses(std::span<const BufferAccess> buffers) {
  size_t count = 0;
  for (const BufferAccess& access : buffers) {
    count += segments_.buffers.stamp(access.buffer.index) == 0;
  }
  segments_.buffers.note_used(count * (access_count_ / buffers.size()));
}

// Begins the next epoch; returns whether its accesses are listed.
bool HazardTracker::begins_list() {
  next_epoch();
  return is_listing_;
}

bool HazardTracker::look_up(std::span<const Access> ranges, AtomicOp atomic_op) {
  if (segments_.lookup_bytes() > kFarBytes) return look_up_far(ranges, atomic_op);
  const Known known =
      with_codes_of(atomic_op, [&](const auto& codes) { return add_near(ranges, codes); });
  if (known == Known::kNot) return add_indexed(ranges, {}, atomic_op);
  if (known == Known::kBeginsList) list(ranges, atomic_op);
  return known != Known::kIsFree;
}

bool HazardTracker::look_up(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  const Known known =
      with_codes_of(atomic_op, [&](const auto& codes) { return add_known(buffers, codes); });
  if (known == Known::kNot) return add_indexed({}, buffers, atomic_op);
  if (known == Known::kBeginsList) list(buffers, atomic_op);
  return known != Known::kIsFree;
}

bool HazardTracker::look_up(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
                            AtomicOp atomic_op) {
  return add_indexed(ranges, buffers, atomic_op);
}

// All accesses are queried before any is recorded.
bool HazardTracker::add_indexed(std::span<const Access> ranges,
                                std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  const AccessCodes codes(atomic_op);
  const bool is_conflict = find(ranges, buffers, codes);
  if (is_conflict) next_epoch();
  if (is_listing_) {
    list(ranges, buffers, atomic_op);  // The first in a list: it meets nothing.
  } else {
    record_found(buffers, codes);
  }
  return is_conflict;
}

// The bytes of buffers as if their ranges had been given.
void HazardTracker::append_ranges_of(std::span<const BufferAccess> buffers,
                                     std::vector<Access>& ranges) const {
  for (const BufferAccess& access : buffers) {
    const BufferTable::Bytes bytes = segments_.buffers.bytes(access.buffer.index);
    Access& range = ranges.emplace_back();
    range.memory = bytes.memory;
    range.range = bytes.range;
    range.mode = access.mode;
  }
}

// Finds and cuts what a dispatch accesses, for record_found(); returns whether it conflicts with
// the epoch.
inline bool HazardTracker::find(std::span<const Access> ranges,
                                std::span<const BufferAccess> buffers, AccessCodes codes) {
  located_count_ = 0;
  walked_.clear();
  has_walked_all_ = true;
  is_by_stamp_ = true;
  bool is_conflict = false;
  if (!ranges.empty()) {
    segments_.prepare(epoch_);
    is_conflict = locate(ranges, codes);
  }
  for (const BufferAccess& access : buffers) {
    const uint32_t* const stamp = segments_.buffers.find_stamp(access.buffer);
    if (stamp == nullptr) return is_conflict | find_by_range(buffers, codes, ranges.empty());
    is_conflict |= codes.conflicts(*stamp, access.mode, epoch_);
  }
  return is_conflict;
}

// Some of the buffers share bytes with others: all are taken for ranges.
bool HazardTracker::find_by_range(std::span<const BufferAccess> buffers, AccessCodes codes,
                                  bool is_first) {
  is_by_stamp_ = false;
  for (const BufferAccess& access : buffers) segments_.buffers.check(access.buffer);
  if (is_first) segments_.prepare(epoch_);
  resolved_.clear();
  append_ranges_of(buffers, resolved_);
  const bool is_conflict = locate(resolved_, codes);
  for (const BufferAccess& access : buffers) segments_.give_if_apart(access.buffer.index);
  return is_conflict;
}

// Goes through the segments of the access as far as there are some; those after the first one are
// walked_ then, if these are all, and end where its range does.
inline HazardTracker::Walked HazardTracker::walk(Segment* first, const Access& access,
                                                 AccessCodes codes) {
  const size_t walked_count = walked_.size();
  Walked walked;
  for (Segment* segment = first; segment != nullptr; segment = segments_.next_of(*segment)) {
    if (segment != first) walked_.push_back(segment);
    walked.is_conflict |= codes.conflicts(segments_.stamp_of(*segment), access.mode, epoch_);
    walked.is_whole = segment->end == access.range.end;
    if (segment->end >= access.range.end) break;
  }
  if (!walked.is_whole) walked_.resize(walked_count);
  return walked;
}

// Does not stop at the first conflict: the rest of the ranges must be cut as well.
inline bool HazardTracker::locate(std::span<const Access> ranges, AccessCodes codes) {
  const uint64_t move_count = segments_.move_count();
  const size_t segment_count = segments_.segment_count();
  const size_t walked_count = walked_.size();
  if (located_.size() < located_count_ + ranges.size()) {
    located_.resize(located_count_ + ranges.size());
  }
  Located* located = located_.data() + located_count_;
  bool is_conflict = false;
  for (const Access& access : ranges) {
    if (access.range.is_empty()) continue;
    Segment* first = segments_.begins_at(access.memory, access.range.begin);
    if (first == nullptr) first = segments_.locate_anew(access.memory, access.range);
    if (first->end == access.range.end) {
      // One segment, as most are.
      *located++ = {first, access.memory, access.range, access.mode};
      is_conflict |= codes.conflicts(segments_.stamp_of(*first), access.mode, epoch_);
      continue;
    }
    Walked walked = walk(first, access, codes);
    if (!walked.is_whole) {
      first = segments_.locate_anew(access.memory, access.range);
      walked = walk(first, access, codes);
    }
    *located++ = {first, access.memory, access.range, access.mode};
    is_conflict |= walked.is_conflict;
  }
  located_count_ = static_cast<size_t>(located - located_.data());
  walk_count_ += walked_.size() - walked_count;
  make_step_count_ += kStepsToMake * (segments_.segment_count() - segment_count);
  // A later range may have cut what an earlier one has walked.
  has_walked_all_ &= segments_.segment_count() == segment_count;
  if (segments_.move_count() != move_count) find_located_again();
  return is_conflict;
}

// Segments have moved.
void HazardTracker::find_located_again() {
  for (Located& access : std::span(located_).first(located_count_)) {
    access.first = segments_.locate(access.memory, access.range);
  }
}

inline void HazardTracker::record_found(std::span<const BufferAccess> buffers, AccessCodes codes) {
  const uint32_t epoch = epoch_;
  Segment* const* walked = walked_.data();
  for (size_t i = 0; i < located_count_; ++i) {
    const Located& access = located_[i];
    uint32_t& stamp = segments_.stamp_of(*access.first);
    stamp = codes.stamp_after(stamp, access.mode, epoch);
    if (access.first->end == access.range.end) continue;
    if (has_walked_all_) {
      walked = record_walked(access, walked, codes.code_of(access.mode));
    } else {
      record_rest(access, codes);
    }
  }
  access_count_ += located_count_;
  looks_up_ranges_ = located_count_ > 0;
  if (is_by_stamp_) {
    for (const BufferAccess& access : buffers) {
      uint32_t& stamp = segments_.buffers.stamp(access.buffer.index);
      stamp = codes.stamp_after(stamp, access.mode, epoch);
    }
    access_count_ += buffers.size();
  }
  if (!long_walks_.empty()) merge_long_walks();
}

// Stamps what follows the first segment of the access, which is what `walked` points to; returns
// where the segments of the next access are.
inline Segment* const* HazardTracker::record_walked(const Located& access, Segment* const* walked,
                                                    uint32_t code) {
  Segment* const* const first = walked;
  for (;;) {
    Segment& segment = **walked++;
    uint32_t& stamp = segments_.stamp_of(segment);
    stamp = AccessCodes::stamp_after(stamp, code, epoch_);
    if (segment.end == access.range.end) break;
  }
  if (1 + (walked - first) > kMaxUnmergedWalk) long_walks_.push_back({access.memory, access.range});
  return walked;
}

// The same where some were made since they were walked.
void HazardTracker::record_rest(const Located& access, AccessCodes codes) {
  const int walked_count = 1 + stamp_until(access.range.end, segments_.next_of(*access.first),
                                           codes.code_of(access.mode));
  if (walked_count > kMaxUnmergedWalk) {
    long_walks_.push_back({access.memory, access.range});
  }
}

// Stamps the segments from `segment` on up to the one that ends at `end`; returns how many.
int HazardTracker::stamp_until(uint64_t end, Segment* segment, uint32_t code) {
  for (int count = 1;; ++count) {
    uint32_t& stamp = segments_.stamp_of(*segment);
    stamp = AccessCodes::stamp_after(stamp, code, epoch_);
    if (segment->end == end) return count;
    segment = segments_.next_of(*segment);
  }
}

// Only once all is recorded: merging moves segments.
void HazardTracker::merge_long_walks() {
  for (const Walk& walk : long_walks_) segments_.merge(walk.memory, walk.range, epoch_);
  long_walks_.clear();
}

}  // namespace interlock
