// The basic idea is that every memory is a list of adjoining segments, cut wherever an access began
// or ended, and that a segment carries the epoch of its last use: a barrier is then one increment,
// and nothing is ever cleared. A dispatch first cuts what it accesses and looks at the stamps, then
// stamps the same segments: cuts alone change no answer, so both passes walk the same segments.
//
// Merging keeps walks short. Recording an access leaves all segments of its range alike, so a long
// walk ends in a single segment, and every segment that it removes was once paid for by a cut.

#include "encoder/sync/tracker.h"

#include "encoder/program/check.h"

namespace interlock {
namespace {

// Shorter walks are left alone: to cut a part of a range again costs as much as so many steps, and
// many programs name both a range and its parts.
constexpr int kMaxUnmergedWalk = 32;

}  // namespace

// Whether a segment was used in this epoch, and how, is as good as random to a branch predictor:
// what depends on it is computed without a branch.
class HazardTracker::Codes {
 public:
  explicit Codes(AtomicOp atomic_op) {
    const bool commutes = atomic_op != AtomicOp::kNone;
    const uint64_t atomic_code = commutes ? static_cast<uint64_t>(atomic_op) : kWriteCode;
    codes_ |= atomic_code << shift_of(AccessMode::kAtomic);
    allowed_ |= (commutes ? atomic_code : kNothing) << shift_of(AccessMode::kAtomic);
  }

  bool conflicts(uint64_t stamp, AccessMode mode, uint64_t epoch) const {
    const uint64_t earlier = stamp - epoch;  // Wraps to no code if the stamp is older.
    const uint64_t allowed = (allowed_ >> shift_of(mode)) & kNothing;
    return (earlier < kCodeCount) & (earlier != allowed);
  }

  uint64_t stamp_after(uint64_t stamp, AccessMode mode, uint64_t epoch) const {
    const uint64_t earlier = stamp - epoch;
    const uint64_t code = (codes_ >> shift_of(mode)) & kWriteCode;
    const uint64_t is_mixture = (earlier < kCodeCount) & (earlier != code);
    return epoch + (code | is_mixture * kWriteCode);
  }

 private:
  static constexpr uint64_t kNothing = 0xff;  // No code.

  static constexpr int shift_of(AccessMode mode) { return 8 * static_cast<int>(mode); }

  // By mode, a byte each: the code of an access, and the earlier code that it does not conflict
  // with. Reads of both kinds have the code 0 in both.
  uint64_t codes_ =
      kWriteCode << shift_of(AccessMode::kWrite) | kWriteCode << shift_of(AccessMode::kUpdate);
  uint64_t allowed_ =
      kNothing << shift_of(AccessMode::kWrite) | kNothing << shift_of(AccessMode::kUpdate);
};

// Stays on in release builds: bytes of a freed buffer may be another's by now.
inline const HazardTracker::Buffer& HazardTracker::buffer(BufferId id) const {
  INTERLOCK_CHECK(id.index < buffers_.size());
  INTERLOCK_CHECK(buffers_[id.index].generation == id.generation);
  return buffers_[id.index];
}

// All accesses are queried before any is recorded: a dispatch does not conflict with itself.
template <typename... Spans>
inline bool HazardTracker::add_all(AtomicOp atomic_op, Spans... accesses) {
  if (segments_.is_sweep_due()) segments_.sweep(epoch_);
  const Codes codes(atomic_op);
  bool is_conflict = false;
  ((is_conflict |= find_conflict(accesses, codes)), ...);
  if (is_conflict) begin_epoch();
  (record(accesses, codes), ...);
  if (!long_walks_.empty()) merge_long_walks();
  return is_conflict;
}

bool HazardTracker::add(std::span<const Access> ranges, AtomicOp atomic_op) {
  return add_all(atomic_op, ranges);
}

bool HazardTracker::add(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  return add_all(atomic_op, buffers);
}

bool HazardTracker::add(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
                        AtomicOp atomic_op) {
  return add_all(atomic_op, ranges, buffers);
}

// Does not stop at the first conflict: the rest of the ranges must be cut as well.
inline bool HazardTracker::find_conflict(std::span<const Access> ranges, Codes codes) {
  const uint64_t epoch = epoch_;
  bool is_conflict = false;
  if (first_segments_.size() < ranges.size()) first_segments_.resize(ranges.size());
  uint32_t* first_segment = first_segments_.data();
  for (const Access& access : ranges) {
    if (!access.range.is_empty()) {
      *first_segment = segments_.locate(access.memory, access.range);
      const Segment* segment = &segments_[*first_segment];
      is_conflict |= codes.conflicts(segment->stamp, access.mode, epoch);
      while (segment->end != access.range.end) {
        segment = &segments_[segment->next];
        is_conflict |= codes.conflicts(segment->stamp, access.mode, epoch);
      }
    }
    ++first_segment;
  }
  return is_conflict;
}

inline void HazardTracker::record(std::span<const Access> ranges, Codes codes) {
  const uint64_t epoch = epoch_;
  const uint32_t* first_segment = first_segments_.data();
  for (const Access& access : ranges) {
    if (!access.range.is_empty()) {
      Segment& first = segments_[*first_segment];
      first.stamp = codes.stamp_after(first.stamp, access.mode, epoch);
      if (first.end != access.range.end) record_rest(first, access, codes);
    }
    ++first_segment;
  }
}

// Stamps what follows the first segment of the access.
void HazardTracker::record_rest(const Segment& first, const Access& access, Codes codes) {
  const uint64_t epoch = epoch_;
  int walked_count = 1;
  for (const Segment* last = &first; last->end != access.range.end; ++walked_count) {
    Segment& segment = segments_[last->next];
    segment.stamp = codes.stamp_after(segment.stamp, access.mode, epoch);
    last = &segment;
  }
  if (walked_count > kMaxUnmergedWalk) long_walks_.push_back({access.memory, access.range});
}

inline bool HazardTracker::find_conflict(std::span<const BufferAccess> buffers, Codes codes) const {
  const uint64_t epoch = epoch_;
  bool is_conflict = false;
  for (const BufferAccess& access : buffers) {
    const Buffer& bytes = buffer(access.buffer);
    for (uint32_t id = bytes.first; id != bytes.behind; id = segments_[id].next) {
      is_conflict |= codes.conflicts(segments_[id].stamp, access.mode, epoch);
    }
  }
  return is_conflict;
}

inline void HazardTracker::record(std::span<const BufferAccess> buffers, Codes codes) {
  const uint64_t epoch = epoch_;
  for (const BufferAccess& access : buffers) {
    const Buffer& bytes = buffers_[access.buffer.index];
    int walked_count = 0;
    for (uint32_t id = bytes.first; id != bytes.behind; id = segments_[id].next) {
      segments_[id].stamp = codes.stamp_after(segments_[id].stamp, access.mode, epoch);
      ++walked_count;
    }
    if (walked_count > kMaxUnmergedWalk) note_long_walk(bytes);
  }
}

void HazardTracker::note_long_walk(const Buffer& bytes) {
  const Segment& first = segments_[bytes.first];
  const bool is_to_the_end = bytes.behind == SegmentMap::kNone;
  const uint64_t end = is_to_the_end ? UINT64_MAX : segments_[bytes.behind].begin;
  long_walks_.push_back({MemoryId(first.memory), {first.begin, end}});
}

// Only once all is recorded: merging removes segments that other accesses of the dispatch start at.
void HazardTracker::merge_long_walks() {
  for (const Walk& walk : long_walks_) segments_.merge(walk.memory, walk.range, epoch_);
  long_walks_.clear();
}

BufferId HazardTracker::register_buffer(MemoryId memory, ByteRange range) {
  if (segments_.is_sweep_due()) segments_.sweep(epoch_);
  if (free_buffers_.empty()) {
    INTERLOCK_CHECK(buffers_.size() < BufferId().index);
    free_buffers_.push_back(static_cast<uint32_t>(buffers_.size()));
    buffers_.emplace_back();
  }
  const uint32_t index = free_buffers_.back();
  free_buffers_.pop_back();
  Buffer& bytes = buffers_[index];
  if (!range.is_empty()) {
    bytes.first = segments_.pin(memory, range.begin);
    if (range.end != UINT64_MAX) bytes.behind = segments_.pin(memory, range.end);
  }
  return {index, bytes.generation};
}

void HazardTracker::unregister_buffer(BufferId id) {
  const Buffer& bytes = buffer(id);
  if (bytes.first != SegmentMap::kNone) segments_.unpin(bytes.first);
  if (bytes.behind != SegmentMap::kNone) segments_.unpin(bytes.behind);
  Buffer vacant;
  vacant.generation = bytes.generation + 1;
  buffers_[id.index] = vacant;
  free_buffers_.push_back(id.index);
}

size_t HazardTracker::size_bytes() const {
  return segments_.size_bytes() + buffers_.capacity() * sizeof(Buffer) +
         free_buffers_.capacity() * sizeof(uint32_t) +
         first_segments_.capacity() * sizeof(uint32_t) + long_walks_.capacity() * sizeof(Walk);
}

}  // namespace interlock
