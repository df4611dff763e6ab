// The basic idea is that most streams of real encoders have a barrier every few accesses: while
// that is so, the accesses of the epoch are a list (tracker_lists.cc), and an epoch that outgrows
// it goes over to segments with stamps (tracker_segments.cc). Here is what decides between the two.

#include "encoder/sync/tracker.h"

#include "encoder/program/check.h"

namespace interlock {
namespace {

// A list of so many accesses is as fast as to look them up; of more, where what is looked up does
// not fit into the nearest cache, or is in many pieces, or is new.
constexpr size_t kLongList = 48;
static_assert(kLongList <= ListedEpoch<BufferKey>::kMaxListed);
constexpr size_t kManyBytes = size_t{1} << 18;
constexpr size_t kManyUsedBytes = size_t{1} << 19;  // Of buffers' stamps.
constexpr size_t kManySteps = 4;                    // An access.
// A recording that is shorter than so many epochs may never need segments, which cost more to make
// than lists of kLongList accesses to compare with.
constexpr size_t kFirstEpochs = 16;

// Ranges are whole where at most one in so many takes a step of a walk.
constexpr size_t kWholeShare = 4;

// A list of the most accesses is faster where ranges are far away, or in pieces, or new, and stay
// so (kManyCostlyEpochs): what comes again is worth while to get to know.
constexpr size_t kLongestList = ListedEpoch<RangeKey>::kMaxListed;
// What is fetched ahead is far away if it is more than this.
constexpr size_t kVeryFarBytes = size_t{1} << 22;

}  // namespace

bool HazardTracker::add_slowly(std::span<const Access> ranges, AtomicOp atomic_op) {
  return is_listing_ ? list(ranges, atomic_op) : look_up(ranges, atomic_op);
}

bool HazardTracker::add_slowly(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  return is_listing_ ? list(buffers, atomic_op) : look_up(buffers, atomic_op);
}

bool HazardTracker::add(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
                        AtomicOp atomic_op) {
  return is_listing_ ? list(ranges, buffers, atomic_op) : look_up(ranges, buffers, atomic_op);
}

size_t HazardTracker::list_limit(bool is_of_buffers) const {
  if (is_of_buffers) {
    return segments_.buffers.used_bytes() > kManyUsedBytes ? kLongList : kShortList;
  }
  const size_t bytes = segments_.lookup_bytes();
  if (bytes > kVeryFarBytes || costly_epochs_ >= kManyCostlyEpochs) return kLongestList;
  if (bytes == 0 && listed_epochs_ < kFirstEpochs) return kLongList;
  return bytes > kManyBytes || is_index_costly_ ? kLongList : kShortList;
}

void HazardTracker::begin_epoch() {
  if (!is_listing_) {
    next_epoch();
    return;
  }
  const size_t size = listed_ranges_.size() + listed_buffers_.size() + listed_places_.size();
  if (size > 0) ++listed_epochs_;
  listed_ranges_.clear();
  listed_buffers_.clear();
  listed_places_.close();
}

void HazardTracker::next_epoch() {
  if (epoch_ > UINT32_MAX - 2 * AccessCodes::kCodeCount) {
    segments_.forget_stamps();
    epoch_ = 0;
  }
  epoch_ += AccessCodes::kCodeCount;
  if (access_count_ == 0) return;  // It tells nothing.
  const size_t step_count = walk_count_ + make_step_count_;
  is_index_costly_ = step_count > kManySteps * access_count_;
  costly_epochs_ = step_count > access_count_ ? costly_epochs_ + 1 : 0;
  // What is new may come again, and is got to know by a trial. What is in pieces stays so.
  const bool is_in_pieces = kWholeShare * walk_count_ > access_count_;
  if (is_in_pieces || access_count_ > kLongList) trial_left_ = 0;
  if (trial_left_ > 0) --trial_left_;
  walk_count_ = make_step_count_ = 0;
  short_epochs_ = access_count_ <= list_limit(!looks_up_ranges_) ? short_epochs_ + 1 : 0;
  access_count_ = 0;
  if (short_epochs_ < patience_ || trial_left_ > 0) return;
  is_listing_ = true;
  short_epochs_ = 0;
  listed_epochs_ = 0;
}

BufferId HazardTracker::register_buffer(MemoryId memory, ByteRange range) {
  if (is_listing_) list_buffers_as_ranges();  // The new one may share bytes with them.
  const BufferId id = segments_.buffers.add(memory, range);
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
         walked_.capacity() * sizeof(Segment*) + resolved_.capacity() * sizeof(Access) +
         long_walks_.capacity() * sizeof(Walk);
}

}  // namespace interlock
