// Linear probing (Knuth, The Art of Computer Programming, volume 3, section 6.4), with deletion by
// moving back what follows (algorithm R there), in a window of bounded length.

#include "encoder/sync/segment_table.h"

#include <algorithm>
#include <bit>

#include "encoder/program/check.h"

namespace interlock {

Segment* SegmentTable::find_after(Segment* first, uint32_t memory, uint64_t begin) {
  for (size_t i = 0; i < kWindow && !first[i].is_free(); ++i) {
    if (first[i].begin == begin && first[i].inverse_memory == ~memory) return &first[i];
  }
  if (overflow_.empty()) return nullptr;
  const auto found = overflow_.find({memory, begin});
  return found == overflow_.end() ? nullptr : &found->second;
}

Segment* SegmentTable::insert(const Segment& segment) {
  if (count_ == most_) grow();
  ++count_;
  Segment* const first = &slots_[place_of(segment.memory(), segment.begin)];
  for (size_t i = 0; i < kWindow; ++i) {
    if (!first[i].is_free()) continue;
    first[i] = segment;
    return &first[i];
  }
  return &overflow_.insert_or_assign({segment.memory(), segment.begin}, segment).first->second;
}

void SegmentTable::erase(Segment* segment) {
  --count_;
  if (!overflow_.empty() && overflow_.erase({segment->memory(), segment->begin}) > 0) return;
  size_t hole = static_cast<size_t>(segment - slots_.data());
  // What lies further away has its first slot after the hole.
  for (size_t i = hole + 1; i < slots_.size() && i < hole + kWindow; ++i) {
    if (slots_[i].is_free()) break;
    if (place_of(slots_[i].memory(), slots_[i].begin) > hole) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = Segment();
}

// Both tables are walked from the first slot to the last: the high bits of the hashes stay.
void SegmentTable::grow() {
  const ZeroedArray<Segment> old = std::move(slots_);
  const auto old_overflow = std::move(overflow_);
  rebuild(2 * count_);
  for (const Segment& slot : old) {
    if (!slot.is_free()) insert(slot);
  }
  for (const auto& [key, segment] : old_overflow) insert(segment);
  ++growth_count_;
}

void SegmentTable::rebuild(size_t count) {
  constexpr size_t kMinSlots = 64;
  const size_t slot_count = std::bit_ceil(std::max(kMinSlots, (8 * count + 4) / 5));
  if (slots_.size() == slot_count + kWindow - 1) {
    slots_.clear();
  } else {
    slots_ = ZeroedArray<Segment>(slot_count + kWindow - 1);
  }
  overflow_.clear();
  shift_ = 64 - std::countr_zero(slot_count);
  most_ = slot_count / 8 * 5;
  INTERLOCK_CHECK(count <= most_);
  count_ = 0;
}

}  // namespace interlock
