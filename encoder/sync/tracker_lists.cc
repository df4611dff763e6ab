// While epochs are short: what the current one does is in a list, a dispatch is compared with all
// of it, and the segments know nothing of it. An epoch that outgrows the list goes over to the
// segments.

#include <algorithm>

#include "encoder/sync/tracker.h"

namespace interlock {
namespace {

// Where lists are outgrown again and again, so many epochs must be short before the next one.
constexpr uint32_t kMaxPatience = 64;

}  // namespace

bool HazardTracker::end_listing(bool is_conflict, size_t listed_count, bool is_of_buffers) {
  if (listed_count > kShortList) try_to_leave_lists(listed_count, is_of_buffers);
  return count_listed(is_conflict);
}

bool HazardTracker::list(std::span<const Access> ranges, AtomicOp atomic_op) {
  if (ranges.size() > ListedEpoch<RangeKey>::kMaxOperands) {
    return outgrow_list(ranges, {}, atomic_op);
  }
  list_buffers_as_ranges();
  return with_codes_of(atomic_op, [&](const auto& codes) {
    const bool is_conflict = listed_ranges_.add(ranges, codes, KeyOfRange());
    return end_listing(is_conflict, listed_ranges_.size(), false);
  });
}

bool HazardTracker::list(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  if (buffers.size() > ListedEpoch<BufferKey>::kMaxOperands) {
    return outgrow_list({}, buffers, atomic_op);
  }
  const bool shares_bytes = segments_.buffers.shared_count() > 0;
  if (!shares_bytes && listed_places_.is_open()) move_buffers_to_ranges();
  const bool are_apart = listed_ranges_.size() == 0 && !shares_bytes;
  return are_apart ? list_by_handle(buffers, atomic_op) : list_by_place(buffers, atomic_op);
}

bool HazardTracker::list_by_handle(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  if (listed_ranges_.is_in_use()) listed_ranges_.clear();
  return with_codes_of(atomic_op, [&](const auto& codes) {
    const bool is_conflict = listed_buffers_.add(buffers, codes, KeyOfBuffer(segments_.buffers));
    return end_listing(is_conflict, listed_buffers_.size(), true);
  });
}

// Where some share bytes, or ranges are listed.
bool HazardTracker::list_by_place(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  if (listed_ranges_.size() > 0 || !segments_.buffers.has_places()) {
    return list_by_range(buffers, atomic_op);
  }
  if (listed_buffers_.is_in_use()) move_buffers_to_ranges();
  if (listed_ranges_.size() > 0) return list_by_range(buffers, atomic_op);
  if (!listed_places_.is_open()) {
    listed_ranges_.clear();
    listed_places_.open();
  }
  const ShortEpochAdded added = with_codes_of(atomic_op, [&](const auto& codes) {
    return listed_places_.add(buffers, codes, PlaceKeyOfBuffer{segments_.buffers});
  });
  if (added == ShortEpochAdded::kNot) return list_by_range(buffers, atomic_op);
  return count_listed(added == ShortEpochAdded::kConflicts);
}

bool HazardTracker::list_by_range(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  list_buffers_as_ranges();
  const size_t count_before = listed_ranges_.size();
  return with_codes_of(atomic_op, [&](const auto& codes) {
    const bool is_conflict =
        listed_ranges_.add(buffers, codes, RangeKeyOfBuffer{segments_.buffers});
    const size_t count = listed_ranges_.size();
    // All that is left is buffers.
    if (is_conflict && segments_.buffers.shared_count() == 0) {
      listed_ranges_.clear();
      listed_buffers_.add(buffers, codes, KeyOfBuffer(segments_.buffers));
    } else if (is_conflict && segments_.buffers.has_places() &&
               std::max(count_before, count) <= ShortEpoch<PlaceKey>::kMost) {
      listed_ranges_.clear();
      listed_places_.open();
      listed_places_.add(buffers, codes, PlaceKeyOfBuffer{segments_.buffers});
    }
    return end_listing(is_conflict, count, false);
  });
}

bool HazardTracker::list(std::span<const Access> ranges, std::span<const BufferAccess> buffers,
                         AtomicOp atomic_op) {
  if (buffers.empty()) return list(ranges, atomic_op);
  if (ranges.empty()) return list(buffers, atomic_op);
  for (const BufferAccess& access : buffers) segments_.buffers.check(access.buffer);
  resolved_.assign(ranges.begin(), ranges.end());
  append_ranges_of(buffers, resolved_);
  return list(resolved_, atomic_op);
}

// Before buffers are compared with bytes that are no buffer, or share some with each other and are
// not few or have no places.
void HazardTracker::move_buffers_to_ranges() {
  listed_places_.for_each([&](const PlaceKey& key, uint16_t use) {
    const BufferTable::Bytes bytes = BufferTable::bytes_at(BufferTable::Place{key.begin, key.end});
    listed_ranges_.append(RangeKey::of(bytes.memory, bytes.range), use);
  });
  listed_places_.close();
  listed_buffers_.for_each([&](BufferKey buffer, uint16_t use) {
    const BufferTable::Bytes bytes = segments_.buffers.bytes(buffer.index);
    listed_ranges_.append(RangeKey::of(bytes.memory, bytes.range), use);
  });
  listed_buffers_.clear();
}

// A dispatch of more operands than a list takes.
bool HazardTracker::outgrow_list(std::span<const Access> ranges,
                                 std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  leave_lists();
  return add_indexed(ranges, buffers, atomic_op);
}

// Segments that were costly may have been new: after so many epochs they are tried again, ever more
// seldom, and for ever more epochs: a trial of one epoch gets to know no more than its ranges, and
// many come again that no two epochs in a row have.
void HazardTracker::try_to_leave_lists(size_t listed_count, bool is_of_buffers) {
  constexpr size_t kMaxTrialEpochs = 4096;
  constexpr size_t kTrialShare = 32;  // One epoch in so many is one of a trial.
  const bool is_costly = is_index_costly_ || costly_epochs_ >= kManyCostlyEpochs;
  if (is_costly && listed_epochs_ > trial_epochs_) {
    is_index_costly_ = false;
    costly_epochs_ = std::min(costly_epochs_, kManyCostlyEpochs - 1);
    trial_left_ = trial_epochs_ / kTrialShare;
    trial_epochs_ = std::min(2 * trial_epochs_, kMaxTrialEpochs);
  }
  if (listed_count > list_limit(is_of_buffers)) leave_lists();
}

// Until its end, the segments know of the current epoch.
void HazardTracker::leave_lists() {
  list_buffers_as_ranges();
  is_listing_ = false;
  patience_ = listed_epochs_ < 8 ? std::min(2 * patience_, kMaxPatience) : 1;
  access_count_ = listed_ranges_.size();
  segments_.prepare(epoch_);
  listed_ranges_.for_each([&](const RangeKey& key, uint16_t use) {
    const ByteRange range{key.begin, key.end};
    if (range.is_empty()) return;
    stamp_until(range.end, segments_.locate(MemoryId(key.memory), range),
                AccessCodes::code_of_use(use));
  });
  listed_ranges_.clear();
}

}  // namespace interlock
