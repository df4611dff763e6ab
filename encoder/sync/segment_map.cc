// The basic idea is that most ranges come again: a range that was seen before is found by one look
// into the table. One that comes for the first time is found through an ordered index of where
// segments begin, and cut.
//
// A sweep removes what tells nothing apart any more. Where what it removed before keeps coming
// back, it lets go only of what was not used since the last sweep, and lets the table grow.

#include "encoder/sync/segment_map.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr size_t kPrefetchDistance = 16;  // Steps of a sweep.

// A sweep is worth while when one in so many could go, of what lies in so many slots.
constexpr size_t kSampleShare = 8;
constexpr size_t kSampleSlots = 1024;

// One in so many is often: by chance a ghost comes back once in 256 at most (GhostFilter).
constexpr size_t kOften = 64;

}  // namespace

// `known` begins where the range does, or is nullptr.
Segment* SegmentMap::locate_anew(MemoryId memory, ByteRange range, Segment* known) {
  INTERLOCK_CHECK(memory.is_some());
  if (memory.index >= memories_.size()) memories_.resize(memory.index + size_t{1});
  Segment* current = known;
  if (known == nullptr) {
    Segment* const holder = holder_of(memory, range.begin);
    if (holder != nullptr) current = split(holder, range.begin);
  }
  for (uint64_t at = range.begin; at < range.end;) {
    if (current == nullptr) {
      Segment unused;
      unused.begin = at;
      unused.end = std::min(range.end, begin_after(memory, at));
      unused.memory = memory.index;
      current = insert(unused);
    }
    at = current->end;
    if (at > range.end) split(current, range.end);
    if (at < range.end) current = table_.find(memory.index, at);
  }
  return table_.find(memory.index, range.begin);
}

// The segment that has this byte, or nullptr.
Segment* SegmentMap::holder_of(MemoryId memory, uint64_t offset) {
  const MemorySegments& all = memories_[memory.index];
  if (all.count == 0) return nullptr;
  const bool is_only = all.index.root == BoundaryIndex::kNone;
  if (is_only && offset < all.only) return nullptr;
  const uint64_t begin = is_only ? all.only : index_.find(all.index, offset);
  Segment* const segment = table_.find(memory.index, begin);
  return segment != nullptr && offset < segment->end ? segment : nullptr;
}

// Where a segment may begin after a byte that is of none.
uint64_t SegmentMap::begin_after(MemoryId memory, uint64_t offset) {
  const MemorySegments& all = memories_[memory.index];
  if (all.index.root != BoundaryIndex::kNone) return index_.find_after(all.index, offset);
  return all.count == 1 && all.only > offset ? all.only : UINT64_MAX;
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
  ++new_count_;
  ghosts_back_ += ghosts_.contains(SegmentTable::hash_of(segment.memory, segment.begin));
  enter(memories_[segment.memory], segment.begin);
  Segment* const result = table_.insert(segment);
  result->sweep = sweep_count_;
  return result;
}

void SegmentMap::enter(MemorySegments& memory, uint64_t begin) {
  if (memory.count++ == 0) {
    memory.only = begin;
    return;
  }
  if (memory.index.root == BoundaryIndex::kNone) {
    index_.insert(memory.index, 0);
    if (memory.only != 0) index_.insert(memory.index, memory.only);
  }
  if (begin != 0) index_.insert(memory.index, begin);
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

inline bool adjoins(const Segment& lower, const Segment& upper) {
  return lower.memory == upper.memory && lower.end == upper.begin;
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
    while (kept.end < range.end) {
      Segment* const next = next_of(kept);
      if (!tells_nothing_apart(kept, *next, oldest_stamp)) break;
      kept.end = next->end;
      table_.erase(next);
      --memories_[memory.index].count;
    }
    *table_.find(memory.index, kept_begin) = kept;
    index_.erase(memories_[memory.index].index, kept_end, kept.end);
    if (kept.end >= range.end) return;
    kept_begin = kept.end;
  }
}

void SegmentMap::forget_stamps() {
  table_.for_each([](Segment& segment) { segment.stamp = 0; });
  buffers.forget_stamps();
  last_sweep_stamp_ = 0;
}

// Those of a memory together and in ascending order, while the segments ahead are fetched.
std::vector<Segment> SegmentMap::all_in_order() {
  std::vector<Segment> segments;
  segments.reserve(table_.size());
  std::vector<uint64_t> begins;
  for (uint32_t memory = 0; memory < memories_.size(); ++memory) {
    const MemorySegments& all = memories_[memory];
    if (all.count == 0) continue;
    begins.clear();
    if (all.index.root == BoundaryIndex::kNone) {
      begins.push_back(all.only);
    } else {
      index_.append_all(all.index, begins);
    }
    for (size_t i = 0; i < begins.size(); ++i) {
      table_.prefetch(memory, begins[std::min(i + kPrefetchDistance, begins.size() - 1)]);
      const Segment* const segment = table_.find(memory, begins[i]);
      if (segment != nullptr) segments.push_back(*segment);
    }
  }
  return segments;
}

// A sweep takes as long whether it removes anything or not, so a sample is asked first: while an
// epoch is long, nothing can go.
bool SegmentMap::is_worth_a_sweep(uint32_t oldest_stamp) {
  size_t goes_count = 0;
  const size_t visited = table_.for_some(kSampleSlots, [&](const Segment& segment) {
    if (segment.owner != Segment::kNone) return;
    const Segment* const next = table_.find(segment.memory, segment.end);
    goes_count += segment.stamp < oldest_stamp ||
                  (next != nullptr && tells_nothing_apart(segment, *next, oldest_stamp));
  });
  return goes_count * kSampleShare >= visited;
}

void SegmentMap::sweep_or_wait(uint32_t oldest_stamp) {
  if (is_worth_a_sweep(oldest_stamp)) {
    sweep(oldest_stamp);
  } else {
    sweep_limit_ = 2 * segment_count();
  }
}

// Whether segments that were used since the last sweep are likely to be used again: those that were
// let go come back, or those that were kept have been used.
bool SegmentMap::are_recent_to_stay(const std::vector<Segment>& segments, bool comes_back) const {
  if (comes_back) return true;
  const auto is_used_again = [&](const Segment& segment) {
    return segment.sweep < sweep_count_ && stamp_of(segment) >= last_sweep_stamp_;
  };
  const ptrdiff_t count = std::count_if(segments.begin(), segments.end(), is_used_again);
  return keeps_recent_ && static_cast<size_t>(count) * kOften >= segments.size();
}

void SegmentMap::sweep(uint32_t oldest_stamp) {
  const bool comes_back = ghosts_back_ > 0 && ghosts_back_ * kOften >= new_count_;
  std::vector<Segment> segments = all_in_order();
  keeps_recent_ = are_recent_to_stay(segments, comes_back);
  ghosts_.reserve(4 * sweep_limit_);
  const uint32_t oldest_kept = keeps_recent_ ? last_sweep_stamp_ : oldest_stamp;
  size_t kept_count = 0;
  for (const Segment& segment : segments) {
    if (segment.owner != Segment::kNone || segment.stamp >= oldest_kept) {
      Segment* const before = kept_count == 0 ? nullptr : &segments[kept_count - 1];
      if (keeps_recent_ || before == nullptr || !adjoins(*before, segment) ||
          !tells_nothing_apart(*before, segment, oldest_stamp)) {
        segments[kept_count++] = segment;
        continue;
      }
      before->end = segment.end;
    }
    ghosts_.add(SegmentTable::hash_of(segment.memory, segment.begin));
  }
  segments.resize(kept_count);
  least_limit_ = comes_back ? 2 * std::max(least_limit_, kept_count)
                            : std::max(kMinSweepLimit, least_limit_ / 2);
  sweep_limit_ = std::max({least_limit_, 2 * kept_count, memories_.size()});
  put_back(segments);
  ++sweep_count_;
  last_sweep_stamp_ = oldest_stamp;
  ghosts_back_ = new_count_ = 0;
}

// Enters the segments anew.
void SegmentMap::put_back(const std::vector<Segment>& segments) {
  table_.rebuild(std::max(segments.size(), kMinSweepLimit));
  index_.clear();
  std::fill(memories_.begin(), memories_.end(), MemorySegments());
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& ahead = segments[std::min(i + kPrefetchDistance, segments.size() - 1)];
    table_.prefetch(ahead.memory, ahead.begin);
    table_.insert(segments[i]);
    enter(memories_[segments[i].memory], segments[i].begin);
  }
}

size_t SegmentMap::size_bytes() const {
  return memories_.capacity() * sizeof(MemorySegments) + table_.size_bytes() + index_.size_bytes() +
         ghosts_.size_bytes() + buffers.size_bytes();
}

}  // namespace interlock
