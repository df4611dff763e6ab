// SegmentMemo: leads from where an access begins to the segment that begins there. Programs name
// the same ranges over and over; the memo makes those a single probe. It only holds ids, and only
// gives hints: whoever owns the segments says whether an id is the one, so that segments may be
// merged and ids reused without telling the memo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/ids.h"

namespace interlock {

class SegmentMemo {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  SegmentMemo() { reset(0); }

  // Multiply and fold: ranges start at multiples of large powers of two, so the high bits must
  // reach the low ones.
  static uint64_t hash_of(uint32_t memory, uint64_t begin) {
    uint64_t h = (begin + memory * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    h ^= h >> 32;
    return h * 0x94d049bb133111ebull;
  }

  // Returns the first stored id of this hash that `is_wanted` accepts, or kNone.
  // Cost: constant, expected.
  template <typename Predicate>
  uint32_t find(uint64_t hash, const Predicate& is_wanted) const {
    const uint32_t tag = static_cast<uint32_t>(hash);
    for (size_t i = first_slot(hash); slots_[i].id != kNone; i = (i + 1) & mask_) {
      if (slots_[i].tag == tag && is_wanted(slots_[i].id)) return slots_[i].id;
    }
    return kNone;
  }

  // Returns true iff there is no room left: the owner resets the memo and stores what it still has.
  bool is_full() const { return 2 * stored_count_ >= slots_.size(); }

  // Requires: !is_full(), id != kNone. Cost: constant, expected.
  void store(uint64_t hash, uint32_t id);

  // Empties the memo and makes room for `id_count` ids, and as many again.
  void reset(size_t id_count);

 private:
  struct Slot {
    uint32_t tag = 0;     // Of the hash: most ids that are not wanted are never looked at.
    uint32_t id = kNone;  // kNone: the slot is free.
  };

  // The tag is the low half of the hash; the place comes from the high half.
  size_t first_slot(uint64_t hash) const { return static_cast<size_t>(hash >> 32) & mask_; }

  std::vector<Slot> slots_;  // A power of two of them.
  size_t mask_ = 0;
  size_t stored_count_ = 0;
};

}  // namespace interlock
