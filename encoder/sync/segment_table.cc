// Linear probing (Knuth, The Art of Computer Programming, volume 3, section 6.4), with deletion by
// moving back what follows (algorithm R there), in a window of bounded length.

#include "encoder/sync/segment_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/sync/queue_segment.h"

namespace interlock {

template <typename Segment>
Segment* BasicSegmentTable<Segment>::find_after(uint64_t hash, uint32_t memory, uint64_t begin) {
  const uint32_t* const first = &slots_[hash >> shift_];
  for (size_t i = 0; i < kWindow && first[i] != 0; ++i) {
    const uint32_t place = first[i] & place_mask_;
    if (first[i] != slot_value(hash, place)) continue;  // Of another hash.
    Segment& segment = segments_[place];
    if (segment.begin == begin && segment.inverse_memory == ~memory) return &segment;
  }
  if (overflow_.empty()) return nullptr;
  const auto found = overflow_.find({memory, begin});
  return found == overflow_.end() ? nullptr : &found->second;
}

// Returns the slot that has the place of the segment. Requires: there is one.
template <typename Segment>
uint32_t* BasicSegmentTable<Segment>::slot_of(const Segment& segment) {
  uint32_t* slot = &slots_[hash_of(segment.memory(), segment.begin) >> shift_];
  while (&segments_[*slot & place_mask_] != &segment) ++slot;
  return slot;
}

// Returns false if there is no slot.
template <typename Segment>
bool BasicSegmentTable<Segment>::enter(uint64_t hash, size_t place) {
  uint32_t* const first = &slots_[hash >> shift_];
  for (size_t i = 0; i < kWindow; ++i) {
    if (first[i] != 0) continue;
    first[i] = slot_value(hash, place);
    return true;
  }
  return false;
}

template <typename Segment>
Segment* BasicSegmentTable<Segment>::insert(const Segment& segment) {
  if (count_ + 1 == most_) grow();
  ++count_;
  return put(segment);
}

// Requires: there is room.
template <typename Segment>
Segment* BasicSegmentTable<Segment>::put(const Segment& segment) {
  const size_t place = free_place_ == 0 ? segments_.size() : free_place_;
  if (!enter(hash_of(segment.memory(), segment.begin), place)) {
    return &overflow_.insert_or_assign({segment.memory(), segment.begin}, segment).first->second;
  }
  if (free_place_ == 0) {
    segments_.push_back(segment);
  } else {
    free_place_ = segments_[place].begin;
    segments_[place] = segment;
  }
  return &segments_[place];
}

template <typename Segment>
void BasicSegmentTable<Segment>::erase(Segment* segment) {
  --count_;
  if (!overflow_.empty() && overflow_.erase({segment->memory(), segment->begin}) > 0) return;
  size_t hole = static_cast<size_t>(slot_of(*segment) - slots_.data());
  free_at(slots_[hole] & place_mask_);
  // What lies further away has its first slot after the hole.
  for (size_t i = hole + 1; i < slots_.size() && i < hole + kWindow; ++i) {
    if (slots_[i] == 0) break;
    const Segment& next = segments_[slots_[i] & place_mask_];
    if (hash_of(next.memory(), next.begin) >> shift_ > hole) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = 0;
}

template <typename Segment>
void BasicSegmentTable<Segment>::free_at(size_t place) {
  segments_[place] = Segment();
  segments_[place].begin = free_place_;
  free_place_ = place;
}

// Makes all slots free, and so many that they are enough for `count` segments.
template <typename Segment>
void BasicSegmentTable<Segment>::make_slots(size_t count) {
  // A few segments should seldom collide; larger ones are made for programs of few dispatches.
  constexpr size_t kMinSlots = sizeof(Segment) <= 32 ? 1024 : 256;
  size_t slot_count = std::bit_ceil(std::max(kMinSlots, count * 32 / kPlacesOf32 + 1));
  most_ = slot_count / 32 * kPlacesOf32;
  if (slot_count > kFarSlots) {
    slot_count = std::bit_ceil(2 * count + 1);
    most_ = slot_count / 2;
  }
  INTERLOCK_CHECK(count < most_ && most_ < UINT32_MAX);
  if (slots_.size() == slot_count + kWindow - 1) {
    slots_.clear();
  } else {
    slots_ = ZeroedArray<uint32_t>(slot_count + kWindow - 1);
  }
  shift_ = 64 - std::countr_zero(slot_count);
  place_mask_ = static_cast<uint32_t>(std::bit_ceil(most_) - 1);
}

// Segments stay in their places, but for those that find no slot, and those that did not before.
template <typename Segment>
void BasicSegmentTable<Segment>::grow() {
  make_slots(2 * (most_ - 1));
  segments_.reserve(most_);
  const auto old_overflow = std::exchange(overflow_, {});
  // The hashes of those for whose slots it waits.
  constexpr size_t kAhead = 16;
  std::array<uint64_t, kAhead> hashes{};
  for (size_t next = 1; next < segments_.size() + kAhead; ++next) {
    uint64_t& hash = hashes[next % kAhead];
    if (next > kAhead) {
      const size_t place = next - kAhead;
      if (const Segment& segment = segments_[place]; !segment.is_free() && !enter(hash, place)) {
        overflow_.insert_or_assign({segment.memory(), segment.begin}, segment);
        free_at(place);
      }
    }
    if (next >= segments_.size()) continue;
    hash = hash_of(segments_[next].memory(), segments_[next].begin);
    __builtin_prefetch(&slots_[hash >> shift_]);
  }
  for (const auto& [key, segment] : old_overflow) put(segment);
  ++growth_count_;
}

template <typename Segment>
void BasicSegmentTable<Segment>::rebuild(size_t count) {
  make_slots(count);
  overflow_.clear();
  count_ = 0;
  free_place_ = 0;
  segments_.clear(most_);
  segments_.reserve(most_);
  segments_.push_back(Segment());
}

template class BasicSegmentTable<Segment>;
template class BasicSegmentTable<QueueSegment>;

}  // namespace interlock
