// BytePieces: the bytes that ranges name, in pieces that none of the ranges cuts. Found once for
// each distinct range, so that a range that comes again costs a look into a hash table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/program/hash.h"
#include "encoder/program/ids.h"
#include "encoder/program/range.h"

namespace interlock {

class BytePieces {
 public:
  // The pieces of a range: those from `first` up to `end`.
  struct Span {
    uint32_t first = 0;
    uint32_t end = 0;
  };

  // Returns the number of the range, the same for equal ones. Requires: all of them before
  // settle(). Cost: constant.
  uint32_t add(MemoryId memory, ByteRange bytes) {
    if (2 * (ranges_.size() + 1) > slots_.size()) grow();
    uint32_t& slot = slots_[slot_of(memory, bytes)];
    if (slot == kFree) {
      slot = static_cast<uint32_t>(ranges_.size());
      ranges_.push_back({memory, bytes});
    }
    return slot;
  }

  // Finds the pieces. A stop (stop.h) leaves none. Cost: O(d log d) for d distinct ranges.
  void settle();

  // Requires: settle() was called. None of an empty range.
  Span pieces_of(uint32_t range) const { return spans_[range]; }

  size_t piece_count() const { return piece_count_; }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Range {
    MemoryId memory;
    ByteRange bytes;
  };
  // Of a range that is not empty; sorted by memory and begin.
  struct Place {
    MemoryId memory;
    uint32_t range;
    uint64_t begin;
    bool operator<(const Place& other) const {
      return memory != other.memory ? memory < other.memory : begin < other.begin;
    }
  };

  // Of the range, or a free one.
  size_t slot_of(MemoryId memory, ByteRange bytes) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = scrambled(bytes.begin * kGolden64 + bytes.end + memory.index) & mask;
    while (slots_[slot] != kFree) {
      const Range& range = ranges_[slots_[slot]];
      if (range.memory == memory && range.bytes == bytes) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  void grow();
  size_t end_of_group(size_t first) const;
  bool cut(size_t first, size_t end);

  std::vector<Range> ranges_;
  std::vector<uint32_t> slots_;  // Into ranges_; a power of two of them, half of them free.
  std::vector<Place> places_;    // While pieces are looked for.
  std::vector<uint64_t> cuts_;   // Likewise, of a group.
  std::vector<Span> spans_;      // By range.
  uint32_t piece_count_ = 0;
};

}  // namespace interlock
