// GranuleSet: which granules of memories, pieces of 256 bytes, somebody has touched. A bit each: a
// million buffers of 256 bytes fit into the caches of a core, where an ordered index of them does
// not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encoder/program/hash.h"
#include "encoder/program/range.h"
#include "encoder/sync/zeroed_array.h"

namespace interlock {

class GranuleSet {
 public:
  // Whether a range is short enough to be marked. Requires: it is not empty.
  static bool takes(ByteRange range) {
    return (range.end - 1) / kGranuleBytes - range.begin / kGranuleBytes < kWordGranules;
  }

  // Marks the granules of a range. Returns false only if none of them was marked: true may be a
  // mistake, where hashes collide by chance or because somebody made them collide.
  // Requires: takes(range). Cost: amortized constant.
  bool mark(uint32_t memory, ByteRange range) {
    const uint64_t first = range.begin / kGranuleBytes;
    const uint64_t last = (range.end - 1) / kGranuleBytes;
    const uint64_t from_first = ~uint64_t{0} << first % kWordGranules;
    const uint64_t up_to_last = ~uint64_t{0} >> (kWordGranules - 1 - last % kWordGranules);
    if (first / kWordGranules == last / kWordGranules) {
      return mark_in(memory, first / kWordGranules, from_first & up_to_last);
    }
    const bool was_marked = mark_in(memory, first / kWordGranules, from_first);
    return mark_in(memory, last / kWordGranules, up_to_last) || was_marked;
  }

  // Cost: linear in the memory that is held, which stays.
  void clear();

  // Grows with the ranges marked, by 512 bytes each at most, wherever they are.
  size_t size_bytes() const { return words_.size_bytes(); }

 private:
  static constexpr uint64_t kGranuleBytes = 256;
  static constexpr uint64_t kWordGranules = 64;
  static constexpr uint64_t kMemoryStep = 0xd1342543de82ef95;

  // A word lies in one of so many places from its first one. Where these are in use, there must be
  // more places; or, if not even one place in so many is in use, somebody has made it so: then the
  // word lies nowhere, and all is taken for marked.
  static constexpr size_t kWindow = 16;
  static constexpr size_t kLeastShare = 8;

  // 64 granules that adjoin. Two words that have the same key share their bits.
  struct Word {
    uint64_t key = 0;
    uint64_t bits = 0;  // 0: a free place.
  };

  bool mark_in(uint32_t memory, uint64_t word, uint64_t bits) {
    const uint64_t key = (word + memory * kMemoryStep) * kGolden64;
    Word& first = words_[key >> shift_];
    if (first.key != key || first.bits == 0) return mark_after(&first, key, bits);
    const bool was_marked = (first.bits & bits) != 0;
    first.bits |= bits;
    return was_marked || has_lost_some_;
  }

  bool mark_after(Word* first, uint64_t key, uint64_t bits);
  void grow();

  ZeroedArray<Word> words_ = ZeroedArray<Word>(kMinPlaces + kWindow - 1);
  int shift_ = 64 - kMinBits;  // The high bits of a key are its first place.
  size_t count_ = 0;
  bool has_lost_some_ = false;

  static constexpr int kMinBits = 6;
  static constexpr size_t kMinPlaces = size_t{1} << kMinBits;
};

}  // namespace interlock
