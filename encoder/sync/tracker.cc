// The basic idea is that every memory is a list of adjoining segments, cut wherever an access began
// or ended, and that a segment carries the epoch of its last use: a barrier is then one increment,
// and nothing is ever cleared. A dispatch first cuts what it accesses and looks at the stamps, then
// stamps the same segments: cuts alone change no answer, so both passes walk the same segments.
//
// Merging keeps walks short. Recording an access leaves all segments of its range alike, so a long
// walk ends in a single segment, and every segment that it removes was once paid for by a cut.
//
// Most streams of real encoders have a barrier every few accesses. While that is so, the accesses
// of the epoch are a list, and a dispatch is compared with all of it; an epoch that outgrows the
// list goes over to the segments.

#include "encoder/sync/tracker.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "encoder/program/check.h"

namespace interlock {
namespace {

// Shorter walks are left alone: to cut a part of a range again costs as much as so many steps, and
// many programs name both a range and its parts.
constexpr int kMaxUnmergedWalk = 32;

// A list of so many accesses is as fast as to look them up; of more, where what is looked up does
// not fit into the nearest caches, or is in many pieces, or is new.
constexpr size_t kShortList = 16;
constexpr size_t kLongList = 48;
static_assert(kLongList <= EpochList<RangeKey>::kMaxListed);
constexpr size_t kManyBytes = size_t{1} << 18;

// To make a piece takes as long as so many steps of a walk.
constexpr size_t kStepsToMake = 16;
constexpr size_t kManySteps = 4;  // An access.

// What is looked up is fetched ahead where it does not fit into the caches of a core.
constexpr size_t kFarBytes = size_t{1} << 20;

// Where lists are outgrown again and again, so many epochs must be short before the next one.
constexpr uint32_t kMaxPatience = 64;

}  // namespace

// The two ways that must be fast: if nothing is cut and nothing conflicts, they record the dispatch
// and return true, else they do nothing.

inline bool HazardTracker::adds_known(std::span<const Access> ranges, AccessCodes codes) {
  constexpr size_t kMostRanges = 16;
  if (ranges.size() > kMostRanges) return false;
  const uint32_t epoch = epoch_;
  std::array<uint32_t*, kMostRanges> stamps;
  if (segments_.lookup_bytes() > kFarBytes) {
    for (const Access& access : ranges) segments_.prefetch(access.memory, access.range);
  }
  size_t count = 0;
  bool is_conflict = false;
  for (const Access& access : ranges) {
    Segment* const segment = segments_.find(access.memory, access.range);
    if (segment == nullptr) return false;
    uint32_t& stamp = segments_.stamp_of(*segment);
    is_conflict |= codes.conflicts(stamp, access.mode, epoch);
    stamps[count++] = &stamp;
  }
  if (is_conflict) return false;
  count = 0;
  for (const Access& access : ranges) {
    uint32_t& stamp = *stamps[count++];
    stamp = codes.stamp_after(stamp, access.mode, epoch);
  }
  access_count_ += ranges.size();
  looks_up_ranges_ = true;
  return true;
}

inline bool HazardTracker::adds_known(std::span<const BufferAccess> buffers, AccessCodes codes) {
  const uint32_t epoch = epoch_;
  bool is_conflict = false;
  for (const BufferAccess& access : buffers) {
    const uint32_t* const stamp = segments_.buffers.find_stamp(access.buffer);
    if (stamp == nullptr) return false;
    is_conflict |= codes.conflicts(*stamp, access.mode, epoch);
  }
  if (is_conflict) return false;
  for (const BufferAccess& access : buffers) {
    uint32_t& stamp = segments_.buffers.stamp(access.buffer.index);
    stamp = codes.stamp_after(stamp, access.mode, epoch);
  }
  access_count_ += buffers.size();
  looks_up_ranges_ = false;
  return true;
}

bool HazardTracker::add(std::span<const Access> ranges, AtomicOp atomic_op) {
  const AccessCodes codes(atomic_op);
  if (is_listing_) return list(ranges, codes);
  return !adds_known(ranges, codes) && add_indexed(ranges, codes);
}

bool HazardTracker::add(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  const AccessCodes codes(atomic_op);
  if (is_listing_) return list(buffers, codes);
  return !adds_known(buffers, codes) && add_indexed(buffers, codes);
}

bool HazardTracker::add(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
                        AtomicOp atomic_op) {
  const AccessCodes codes(atomic_op);
  return is_listing_ ? list(ranges, buffers, codes) : add_indexed(ranges, buffers, codes);
}

// --- While epochs are short
// -----------------------------------------------------------------------

inline bool HazardTracker::list(std::span<const Access> ranges, AccessCodes codes) {
  list_buffers_as_ranges();
  return list_in(listed_ranges_, ranges, codes,
                 [](const Access& access) { return RangeKey::of(access.memory, access.range); });
}

inline bool HazardTracker::list(std::span<const BufferAccess> buffers, AccessCodes codes) {
  for (const BufferAccess& access : buffers) segments_.buffers.check(access.buffer);
  if (listed_ranges_.size() == 0 && segments_.buffers.shared_count() == 0) {
    return list_in(listed_buffers_, buffers, codes,
                   [](const BufferAccess& access) { return BufferKey{access.buffer.index}; });
  }
  list_buffers_as_ranges();
  return list_in(listed_ranges_, buffers, codes, [this](const BufferAccess& access) {
    const BufferTable::Bytes& bytes = segments_.buffers.bytes(access.buffer.index);
    return RangeKey::of(bytes.memory, bytes.range);
  });
}

bool HazardTracker::list(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
                         AccessCodes codes) {
  if (buffers.empty()) return list(ranges, codes);
  if (ranges.empty()) return list(buffers, codes);
  for (const BufferAccess& access : buffers) segments_.buffers.check(access.buffer);
  resolved_.assign(ranges.begin(), ranges.end());
  append_ranges_of(buffers, resolved_);
  return list(resolved_, codes);
}

inline size_t HazardTracker::list_limit(bool is_of_buffers) const {
  const size_t bytes = is_of_buffers ? segments_.buffers.lookup_bytes() : segments_.lookup_bytes();
  const bool is_costly = bytes > kManyBytes || (!is_of_buffers && is_index_costly_);
  return is_costly ? kLongList : kShortList;
}

template <typename Key, typename Operand, typename KeyOf>
inline bool HazardTracker::list_in(EpochList<Key>& list, std::span<const Operand> operands,
                                   AccessCodes codes, const KeyOf& key_of) {
  if (operands.size() > EpochList<Key>::kMaxOperands) {
    leave_lists();
    return add_indexed(operands, codes);
  }
  const bool is_conflict = list.add(operands, codes, key_of);
  listed_epochs_ += is_conflict;
  if (list.size() > kShortList && list.size() > list_limit(std::is_same_v<Key, BufferKey>)) {
    leave_lists();
  }
  return is_conflict;
}

// Before buffers are compared with bytes that are no buffer, or share some with each other.
inline void HazardTracker::list_buffers_as_ranges() {
  if (listed_buffers_.size() == 0) return;
  listed_buffers_.for_each([&](BufferKey buffer, uint32_t code) {
    const BufferTable::Bytes& bytes = segments_.buffers.bytes(buffer.index);
    listed_ranges_.append(RangeKey::of(bytes.memory, bytes.range), code);
  });
  listed_buffers_.clear();
}

// Until its end, the segments know of the current epoch.
void HazardTracker::leave_lists() {
  list_buffers_as_ranges();
  is_listing_ = false;
  patience_ = listed_epochs_ < 8 ? std::min(2 * patience_, kMaxPatience) : 1;
  access_count_ = listed_ranges_.size();
  segments_.prepare(epoch_);
  listed_ranges_.for_each([&](const RangeKey& key, uint32_t code) {
    const ByteRange range{key.begin, key.end};
    if (range.is_empty()) return;
    Segment* segment = segments_.locate(MemoryId(key.memory), range);
    for (;; segment = segments_.next_of(*segment)) {
      uint32_t& stamp = segments_.stamp_of(*segment);
      stamp = AccessCodes::stamp_after(stamp, code, epoch_);
      if (segment->end == range.end) break;
    }
  });
  listed_ranges_.clear();
}

// --- While epochs are long
// ------------------------------------------------------------------------

// All accesses are queried before any is recorded.
bool HazardTracker::add_indexed(std::span<const Access> ranges,
                                std::span<const BufferAccess> buffers, AccessCodes codes) {
  const bool is_conflict = find(ranges, buffers, codes);
  if (is_conflict) next_epoch();
  if (is_listing_) {
    list(ranges, buffers, codes);  // The first in a list: it meets nothing.
  } else {
    record_found(buffers, codes);
  }
  return is_conflict;
}

bool HazardTracker::add_indexed(std::span<const Access> ranges, AccessCodes codes) {
  return add_indexed(ranges, {}, codes);
}

bool HazardTracker::add_indexed(std::span<const BufferAccess> buffers, AccessCodes codes) {
  return add_indexed({}, buffers, codes);
}

// The bytes of buffers as if their ranges had been given.
void HazardTracker::append_ranges_of(std::span<const BufferAccess> buffers,
                                     std::vector<Access>& ranges) const {
  for (const BufferAccess& access : buffers) {
    const BufferTable::Bytes& bytes = segments_.buffers.bytes(access.buffer.index);
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

// Does not stop at the first conflict: the rest of the ranges must be cut as well.
inline bool HazardTracker::locate(std::span<const Access> ranges, AccessCodes codes) {
  const uint32_t epoch = epoch_;
  const uint64_t move_count = segments_.move_count();
  const size_t segment_count = segments_.segment_count();
  if (located_.size() < located_count_ + ranges.size()) {
    located_.resize(located_count_ + ranges.size());
  }
  Located* located = located_.data() + located_count_;
  bool is_conflict = false;
  for (const Access& access : ranges) {
    if (access.range.is_empty()) continue;
    Segment* segment = segments_.locate(access.memory, access.range);
    *located++ = {segment, access.memory, access.range, access.mode};
    is_conflict |= codes.conflicts(segments_.stamp_of(*segment), access.mode, epoch);
    while (segment->end != access.range.end) {
      segment = segments_.next_of(*segment);
      is_conflict |= codes.conflicts(segments_.stamp_of(*segment), access.mode, epoch);
      ++step_count_;
    }
  }
  located_count_ = static_cast<size_t>(located - located_.data());
  step_count_ += kStepsToMake * (segments_.segment_count() - segment_count);
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
  for (size_t i = 0; i < located_count_; ++i) {
    const Located& access = located_[i];
    uint32_t& stamp = segments_.stamp_of(*access.first);
    stamp = codes.stamp_after(stamp, access.mode, epoch);
    if (access.first->end != access.range.end) record_rest(access, codes);
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

// Stamps what follows the first segment of the access.
void HazardTracker::record_rest(const Located& access, AccessCodes codes) {
  int walked_count = 1;
  for (Segment* last = access.first; last->end != access.range.end; ++walked_count) {
    last = segments_.next_of(*last);
    uint32_t& stamp = segments_.stamp_of(*last);
    stamp = codes.stamp_after(stamp, access.mode, epoch_);
  }
  if (walked_count > kMaxUnmergedWalk) {
    long_walks_.push_back({access.memory, access.range});
  }
}

// Only once all is recorded: merging moves segments.
void HazardTracker::merge_long_walks() {
  for (const Walk& walk : long_walks_) segments_.merge(walk.memory, walk.range, epoch_);
  long_walks_.clear();
}

// --- Epochs and buffers
// ---------------------------------------------------------------------------

void HazardTracker::begin_epoch() {
  if (!is_listing_) {
    next_epoch();
    return;
  }
  if (listed_ranges_.size() + listed_buffers_.size() > 0) ++listed_epochs_;
  listed_ranges_.clear();
  listed_buffers_.clear();
}

void HazardTracker::next_epoch() {
  if (epoch_ > UINT32_MAX - 2 * AccessCodes::kCodeCount) {
    segments_.forget_stamps();
    epoch_ = 0;
  }
  epoch_ += AccessCodes::kCodeCount;
  if (access_count_ == 0) return;  // It tells nothing.
  is_index_costly_ = step_count_ > kManySteps * access_count_;
  step_count_ = 0;
  short_epochs_ = access_count_ <= list_limit(!looks_up_ranges_) ? short_epochs_ + 1 : 0;
  access_count_ = 0;
  if (short_epochs_ < patience_) return;
  is_listing_ = true;
  short_epochs_ = 0;
  listed_epochs_ = 0;
}

BufferId HazardTracker::register_buffer(MemoryId memory, ByteRange range) {
  if (is_listing_) list_buffers_as_ranges();  // The new one may share bytes with them.
  const BufferId id = segments_.buffers.add({memory, range});
  if (range.is_empty()) return id;
  segments_.prepare(epoch_);
  segments_.locate(memory, range);
  segments_.give_if_apart(id.index);
  return id;
}

void HazardTracker::unregister_buffer(BufferId id) {
  segments_.buffers.check(id);
  list_buffers_as_ranges();
  if (segments_.buffers.is_exclusive(id.index)) segments_.take_back(id.index);
  segments_.buffers.remove(id);
}

size_t HazardTracker::size_bytes() const {
  return sizeof(*this) + segments_.size_bytes() + located_.capacity() * sizeof(Located) +
         resolved_.capacity() * sizeof(Access) + long_walks_.capacity() * sizeof(Walk);
}

}  // namespace interlock
