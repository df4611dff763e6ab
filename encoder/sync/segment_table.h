// SegmentTable: segments of memories in a hash table, by memory and first byte. A segment and what
// is known of it lie in one slot, so that a range seen before costs one cache line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "encoder/program/hash.h"
#include "encoder/program/range.h"
#include "encoder/sync/zeroed_array.h"

namespace interlock {

// A maximal piece of one memory whose bytes have been treated alike. Zero bytes are no segment.
struct Segment {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t inverse_memory = 0;  // All bits of the memory's index inverted. 0: a free slot.
  uint32_t stamp = 0;           // Unless it has an owner. Bytes that nobody used have the stamp 0.
  uint32_t owner = kNone;       // The registered buffer that has just these bytes, and their stamp.
  uint32_t sweep = 0;           // How many sweeps there had been when this segment was made.

  // One of bytes that nobody used.
  static Segment of(uint32_t memory, ByteRange range) {
    Segment segment;
    segment.begin = range.begin;
    segment.end = range.end;
    segment.inverse_memory = ~memory;
    return segment;
  }

  bool is_free() const { return inverse_memory == 0; }
  uint32_t memory() const { return ~inverse_memory; }
};

class SegmentTable {
 public:
  SegmentTable() { rebuild(0); }

  // Spreads over all bits, of which the high ones are the best.
  static uint64_t hash_of(uint32_t memory, uint64_t begin) {
    return (begin + memory * kMemoryStep) * kGolden64;
  }

  // Returns the segment of `memory` that begins at `begin`, or nullptr. It stays where it is until
  // insert(), erase() or rebuild(). Cost: constant, or logarithmic where many hashes collide.
  Segment* find(uint32_t memory, uint64_t begin) {
    Segment& first = slots_[place_of(memory, begin)];
    if (first.begin == begin && first.inverse_memory == ~memory) return &first;
    return find_after(&first, memory, begin);
  }

  void prefetch(uint32_t memory, uint64_t begin) const {
    __builtin_prefetch(&slots_[place_of(memory, begin)]);
  }

  // Returns where the segment is. Requires: there is none that begins there.
  // Cost: amortized constant. Segments move where the table grows.
  Segment* insert(const Segment& segment);

  // How often segments have moved because the table has grown.
  uint64_t growth_count() const { return growth_count_; }

  // Requires: the segment is in the table. Cost: constant, or logarithmic where many hashes
  // collide.
  void erase(Segment* segment);

  // Empties the table and makes room for `count` segments and some.
  void rebuild(size_t count);

  template <typename Visit>
  void for_each(const Visit& visit) {
    for (Segment& slot : slots_) {
      if (!slot.is_free()) visit(slot);
    }
    for (auto& [key, segment] : overflow_) visit(segment);
  }

  // Visits what lies in `count` slots, spread over all; returns how many segments that were.
  template <typename Visit>
  size_t for_some(size_t count, const Visit& visit) const {
    const size_t step = std::max<size_t>(1, slots_.size() / count);
    size_t visited = 0;
    for (size_t i = 0; i < slots_.size(); i += step) {
      if (slots_[i].is_free()) continue;
      visit(slots_[i]);
      ++visited;
    }
    return visited;
  }

  size_t size() const { return count_; }
  size_t slot_bytes() const { return slots_.size_bytes(); }
  size_t size_bytes() const {
    return slots_.size_bytes() + overflow_.size() * (sizeof(Segment) + 64);
  }

 private:
  static constexpr uint64_t kMemoryStep = 0xd1342543de82ef95;

  // A segment lies in one of so many slots from its first one. At most five eighths of the slots
  // are in use, so longer clusters are rare, unless somebody made them on purpose; what finds no
  // slot is in a map.
  static constexpr size_t kWindow = 16;

  size_t place_of(uint32_t memory, uint64_t begin) const {
    return hash_of(memory, begin) >> shift_;
  }

  Segment* find_after(Segment* first, uint32_t memory, uint64_t begin);
  void grow();

  ZeroedArray<Segment> slots_;  // A power of two, and what the window of the last one needs.
  std::map<std::pair<uint32_t, uint64_t>, Segment> overflow_;
  int shift_ = 0;  // The high bits of a hash are its first slot.
  size_t count_ = 0;
  size_t most_ = 0;  // Segments that the slots are enough for.
  uint64_t growth_count_ = 0;
};

}  // namespace interlock
