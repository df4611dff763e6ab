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
    const bool is_conflict = listed_ranges_.add(ranges, codes, KeysOfRanges());
    return end_listing(is_conflict, listed_ranges_.size(), false);
  });
}

bool HazardTracker::list(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  if (buffers.size() > ListedEpoch<BufferKey>::kMaxOperands) {
    return outgrow_list({}, buffers, atomic_op);
  }
  const bool are_alone = listed_ranges_.size() == 0 && segments_.buffers.empty_count() == 0;
  return are_alone ? list_as_buffers(buffers, atomic_op) : list_by_range(buffers, atomic_op);
}

// Where two share bytes, that is asked of few accesses alone.
bool HazardTracker::list_as_buffers(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  listed_ranges_.clear();
  const KeysOfBuffers keys(*this);
  return with_codes_of(atomic_op, [&](const auto& codes) {
    if (segments_.buffers.shared_count() == 0) {
      const bool is_conflict = listed_buffers_.add(buffers, codes, keys);
      return end_listing(is_conflict, listed_buffers_.size(), true);
    }
    const ShortEpochAdded added = listed_buffers_.open_few()
                                      ? listed_buffers_.add_to_few(buffers, codes, keys)
                                      : ShortEpochAdded::kNot;
    if (added == ShortEpochAdded::kNot) return list_by_range(buffers, atomic_op);
    return count_listed(added == ShortEpochAdded::kConflicts);
  });
}

// Whether a dispatch conflicts with the buffers that are listed, few, in bytes that they share.
template <typename Codes>
bool HazardTracker::conflict_by_range(std::span<const BufferAccess> buffers,
                                      const Codes& codes) const {
  const BufferTable& table = segments_.buffers;
  for (const BufferAccess& access : buffers) {
    const RangeKey key = KeysOfTheirRanges{table}.of(access);
    const bool is_conflict = listed_buffers_.any_of_few([&](BufferKey other, uint16_t use) {
      if (codes.allows_after(use, access.mode)) return false;
      const BufferTable::Bytes& others = table.bytes(other.index);
      return RangeKey::of(others.memory, others.range).meets(key);
    });
    if (is_conflict) return true;
  }
  return false;
}

template bool HazardTracker::conflict_by_range(std::span<const BufferAccess> buffers,
                                               const PlainCodes& codes) const;

bool HazardTracker::list_by_range(std::span<const BufferAccess> buffers, AtomicOp atomic_op) {
  list_buffers_as_ranges();
  return with_codes_of(atomic_op, [&](const auto& codes) {
    const bool is_conflict =
        listed_ranges_.add(buffers, codes, KeysOfTheirRanges{segments_.buffers});
    const size_t count = listed_ranges_.size();
    if (is_conflict && segments_.buffers.empty_count() == 0 &&
        count <= ShortEpoch<BufferKey>::kMost) {
      // All that is left is buffers.
      listed_ranges_.clear();
      listed_buffers_.open_few();
      listed_buffers_.add_to_few(buffers, codes, KeysOfBuffers(*this));
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

// Before buffers are compared with bytes that are no buffer, or share some with each other.
void HazardTracker::list_buffers_as_ranges() {
  listed_buffers_.for_each([&](BufferKey buffer, uint32_t code) {
    const BufferTable::Bytes& bytes = segments_.buffers.bytes(buffer.index);
    listed_ranges_.append(RangeKey::of(bytes.memory, bytes.range), code);
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
// seldom.
void HazardTracker::try_to_leave_lists(size_t listed_count, bool is_of_buffers) {
  constexpr size_t kMaxTrialEpochs = 4096;
  if (is_index_costly_ && listed_epochs_ > trial_epochs_) {
    is_index_costly_ = false;
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
  listed_ranges_.for_each([&](const RangeKey& key, uint32_t code) {
    const ByteRange range{key.begin, key.end};
    if (range.is_empty()) return;
    stamp_until(range.end, segments_.locate(MemoryId(key.memory), range), code);
  });
  listed_ranges_.clear();
}

}  // namespace interlock
