// SegmentTable: segments of memories, by memory and first byte. They lie in an array in the order
// in which they came, and a hash table says where: its slots are small, so that most can stay free,
// and what is new is appended. A range seen before costs two cache lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "encoder/program/hash.h"
#include "encoder/program/range.h"
#include "encoder/sync/chunked_array.h"
#include "encoder/sync/zeroed_array.h"

namespace interlock {

// A maximal piece of one memory whose bytes have been treated alike. Zero bytes are no segment.
struct Segment {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t inverse_memory = 0;  // All bits of the memory's index inverted. 0: no segment.
  uint32_t owner = kNone;       // The registered buffer that has just these bytes, and their stamp.
  uint32_t stamp = 0;           // Unless it has an owner. Bytes that nobody used have the stamp 0.
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

// Has no room until rebuild() makes some: a short program never needs it. `Segment` is the one
// above or QueueSegment (queue_segment.h): of it the table knows the memory and the begin.
template <typename Segment>
class BasicSegmentTable {
 public:
  // Spreads over all bits, of which the high ones are the best.
  static uint64_t hash_of(uint32_t memory, uint64_t begin) {
    return (begin + memory * kMemoryStep) * kGolden64;
  }

  // Returns the segment of `memory` that begins at `begin`, or nullptr. It stays where it is until
  // insert(), or rebuild(). Cost: constant, or logarithmic where many hashes collide.
  Segment* find(uint32_t memory, uint64_t begin) {
    const uint64_t hash = hash_of(memory, begin);
    Segment& first = segments_[slots_[hash >> shift_] & place_mask_];
    if (first.begin == begin && first.inverse_memory == ~memory) return &first;
    return find_after(hash, memory, begin);
  }

  // Where find() looks first, in registers: for many in a row, until insert() or rebuild().
  // Requires: has_room(), and there were never more than kMost segments since the last rebuild().
  class Near {
   public:
    static constexpr size_t kMost = ChunkedArray<Segment>::kChunk - 1;

    explicit Near(BasicSegmentTable& table)
        : slots_(table.slots_.data()),
          segments_(table.segments_.first_chunk()),
          shift_(table.shift_),
          place_mask_(table.place_mask_) {}

    // The segment that begins there, if there is one, and it is not another by a rare collision.
    Segment& likeliest(uint32_t memory, uint64_t begin) const {
      return segments_[slots_[hash_of(memory, begin) >> shift_] & place_mask_];
    }

   private:
    const uint32_t* slots_;
    Segment* segments_;
    int shift_;
    uint32_t place_mask_;
  };

  // What find() reads first, and what that says is most likely the segment: for what is far, to be
  // fetched ahead. Neither moves until insert() or rebuild(). Requires: has_room().
  const uint32_t* slot(uint32_t memory, uint64_t begin) const {
    return &slots_[hash_of(memory, begin) >> shift_];
  }
  Segment& likeliest(uint32_t slot) { return segments_[slot & place_mask_]; }

  // The same where find() looks again.
  void prefetch_slot(uint32_t memory, uint64_t begin) const {
    __builtin_prefetch(&slots_[hash_of(memory, begin) >> shift_]);
  }
  void prefetch_segment(uint32_t memory, uint64_t begin) const {
    __builtin_prefetch(&segments_[slots_[hash_of(memory, begin) >> shift_] & place_mask_]);
  }

  // Returns where the segment is. Requires: there is none that begins there.
  // Cost: amortized constant. Segments move where the table grows.
  Segment* insert(const Segment& segment);

  // How often segments have moved because the table has grown.
  uint64_t growth_count() const { return growth_count_; }

  // Requires: the segment is in the table. Others stay where they are.
  // Cost: constant, or logarithmic where many hashes collide.
  void erase(Segment* segment);

  // Empties the table and makes room for `count` segments and some.
  void rebuild(size_t count);
  bool has_room() const { return slots_.size() > 0; }

  template <typename Visit>
  void for_each(const Visit& visit) {
    for (size_t place = 1; place < segments_.size(); ++place) {
      if (!segments_[place].is_free()) visit(segments_[place]);
    }
    for (auto& [key, segment] : overflow_) visit(segment);
  }

  // Visits at most `count` segments or places that are free, spread over all; returns how many
  // segments that were.
  template <typename Visit>
  size_t for_some(size_t count, const Visit& visit) const {
    const size_t step = std::max<size_t>(1, segments_.size() / count);
    size_t visited = 0;
    for (size_t place = 1; place < segments_.size(); place += step) {
      if (segments_[place].is_free()) continue;
      visit(segments_[place]);
      ++visited;
    }
    return visited;
  }

  size_t size() const { return count_; }
  // The bytes in which find() looks.
  size_t lookup_bytes() const { return slots_.size_bytes() + segments_.size() * sizeof(Segment); }
  size_t size_bytes() const {
    return slots_.size_bytes() + segments_.size_bytes() + overflow_.size() * (sizeof(Segment) + 64);
  }

 private:
  static constexpr uint64_t kMemoryStep = 0xd1342543de82ef95;

  // The place of a segment lies in one of so many slots from its first one. At most nine of 32
  // slots are in use, so longer clusters are very rare, unless somebody made them on purpose; what
  // finds no slot is in a map. Where slots are more than a core's caches hold, up to half are in
  // use: that more ranges have their first slot to themselves is worth less there than that of
  // fewer slots more are in a cache that cores share.
  static constexpr size_t kWindow = 16;
  static constexpr size_t kPlacesOf32 = 9;
  static constexpr size_t kFarSlots = size_t{1} << 19;

  Segment* find_after(uint64_t hash, uint32_t memory, uint64_t begin);
  uint32_t* slot_of(const Segment& segment);
  void free_at(size_t place);
  uint32_t slot_value(uint64_t hash, size_t place) const {
    return (static_cast<uint32_t>(hash) & ~place_mask_) | static_cast<uint32_t>(place);
  }
  bool enter(uint64_t hash, size_t place);
  Segment* put(const Segment& segment);
  void make_slots(size_t count);
  void grow();

  // 0: free. Else the place of a segment in the low bits, and in the others bits of its hash.
  // A power of two of them, and what the window of the last one needs.
  ZeroedArray<uint32_t> slots_;
  ChunkedArray<Segment> segments_;  // Place 0 has none, and looks like none.
  std::map<std::pair<uint32_t, uint64_t>, Segment> overflow_;
  int shift_ = 0;  // The high bits of a hash are its first slot.
  uint32_t place_mask_ = 0;
  size_t count_ = 0;
  size_t most_ = 0;        // Places for which there are slots enough.
  size_t free_place_ = 0;  // The last that was erased, whose `begin` is the one before; 0: none.
  uint64_t growth_count_ = 0;
};

using SegmentTable = BasicSegmentTable<Segment>;

}  // namespace interlock
