// RangeMemo: remembers at which segment a range began when it was last seen. Programs name the same
// ranges over and over; the memo makes those a single probe. It only gives hints: an entry may be
// outdated or forgotten at any time, and whoever asks must verify it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/ids.h"
#include "encoder/range.h"

namespace interlock {

class RangeMemo {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  RangeMemo();

  // Returns the segment last stored for the range, or kNone. Cost: constant, expected.
  uint32_t find(MemoryId memory, ByteRange range) const;

  // Requires: segment != kNone. Cost: constant, expected and amortized.
  void store(MemoryId memory, ByteRange range, uint32_t segment);

  void clear();

 private:
  // Beyond this many ranges the memo starts anew: it is a cache, and a stream has no end.
  static constexpr size_t kMaxEntries = size_t{1} << 18;

  struct Slot {
    ByteRange range;
    uint32_t memory = 0;
    uint32_t segment = kNone;  // kNone: the slot is free.
  };

  // The slot that holds the range, or the free slot where it belongs.
  size_t slot_of(MemoryId memory, ByteRange range) const;
  void grow();

  std::vector<Slot> slots_;  // A power of two of them, at most half of them taken.
  size_t entry_count_ = 0;
};

}  // namespace interlock
