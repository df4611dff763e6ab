// SegmentMemo: leads from where an access begins to the segment that begins there. Programs name
// the same ranges over and over; the memo makes those a single probe. It is a cache, not an index:
// it may forget, it gives hints, and whoever owns the segments says whether an id is the one, so
// that segments may be merged and ids reused without telling the memo.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/program/hash.h"

namespace interlock {

class SegmentMemo {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  SegmentMemo() { resize(0); }

  // Multiplicative hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4): ranges
  // begin at multiples of large powers of two, and the high bits of the product see all of them.
  static uint32_t tag_of(uint32_t memory, uint64_t begin) {
    const uint64_t key = begin + memory * kGolden64;
    return static_cast<uint32_t>((key * kGolden64) >> 32);
  }

  // Returns the first stored id of this tag that `is_wanted` accepts, or kNone.
  // Cost: constant in the worst case.
  template <typename Predicate>
  uint32_t find(uint32_t tag, const Predicate& is_wanted) const {
    const Slot* const slots = slots_.data() + (tag >> shift_);
    for (size_t i = 0; i < kWindow && slots[i].id != kNone; ++i) {
      if (slots[i].tag == tag && is_wanted(slots[i].id)) return slots[i].id;
    }
    return kNone;
  }

  // True iff it is time to rebuild(): from here on more and more probes would be in vain.
  bool is_full() const { return 2 * stored_count_ >= slot_count(); }

  // Remembers `id`, in place of another id of the same tag, or where there is no room for both.
  // Requires: id != kNone. Cost: constant.
  void store(uint32_t tag, uint32_t id);

  // Forgets every entry that `is_valid(tag, id)` does not accept, and makes room for as many again
  // as it keeps. Cost: linear in the slots; is_full() is true once per so many stores.
  template <typename Predicate>
  void rebuild(const Predicate& is_valid) {
    std::vector<Slot> old = std::move(slots_);
    std::erase_if(old, [&](const Slot& s) { return s.id == kNone || !is_valid(s.tag, s.id); });
    resize(old.size());
    for (const Slot& slot : old) store(slot.tag, slot.id);
  }

  size_t size_bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    uint32_t tag = 0;     // Most ids that are not wanted are never looked at.
    uint32_t id = kNone;  // kNone: the slot is free.
  };

  // An entry lies in one of so many slots from its first one. At most half of the slots are in use,
  // so longer clusters are rare, unless somebody made them on purpose.
  static constexpr size_t kWindow = 8;

  size_t slot_count() const { return slots_.size() - (kWindow - 1); }
  void resize(size_t id_count);

  std::vector<Slot> slots_;  // A power of two, and what the window of the last one needs.
  int shift_ = 0;            // The high bits of a tag are its first slot.
  size_t stored_count_ = 0;
};

}  // namespace interlock
