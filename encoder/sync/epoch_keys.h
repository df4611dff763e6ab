// Keys say which accesses of an epoch meet, in its lists. Each stores itself field by field, and no
// two that adjoin have the same size: a compiler that copies two at once may put them together
// first, in memory or in a register, which takes longer than all the rest. They have no value until
// they are given one: a list is made for every short program, and has room for many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/sync/buffer_table.h"

namespace interlock {

// Bytes of a memory; an empty range meets nothing.
struct RangeKey {
  static constexpr bool kIsLookedUp = false;
  // Accesses of an epoch that are worth while to list, where all else is slow.
  static constexpr size_t kMaxListed = 320;

  uint64_t begin;
  uint32_t memory;
  uint16_t use;  // AccessCodes::use_of(), if it was stored; a byte might be any object's.
  uint64_t end;

  static RangeKey of(MemoryId memory, ByteRange range) {
    return {range.begin, memory.index, 0, range.end};
  }
  // Without a branch, for many in a row: which of two ranges comes first is as good as random.
  bool meets(const RangeKey& other) const {
    return std::max(begin, other.begin) < std::min(end, other.end) && memory == other.memory;
  }
  // With branches, for a few: the same, if neither is empty.
  bool may_meet(const RangeKey& other) const {
    return begin < other.end && other.begin < end && memory == other.memory;
  }
  void store(RangeKey& place) const {
    place.begin = begin;
    place.memory = memory;
    place.end = end;
  }
  void store(RangeKey& place, uint16_t use_of_access) const {
    store(place);
    place.use = use_of_access;
  }
};

// Bytes of any memory, as a BufferTable places them.
struct PlaceKey {
  // It takes longer to make it again than to keep it.
  static constexpr bool kIsLookedUp = true;

  uint64_t begin;
  uint16_t use;  // As that of RangeKey.
  uint64_t end;

  static PlaceKey of(const BufferTable::Place& place) { return {place.begin, 0, place.end}; }
  bool meets(const PlaceKey& other) const { return begin < other.end && other.begin < end; }
  bool may_meet(const PlaceKey& other) const { return meets(other); }
  void store(PlaceKey& place, uint16_t use_of_access) const {
    place.begin = begin;
    place.use = use_of_access;
    place.end = end;
  }
};

// A registered buffer, none of which is empty.
struct BufferKey {
  static constexpr bool kIsLookedUp = false;
  static constexpr size_t kMaxListed = 64;

  uint32_t index;
  uint16_t use;  // As that of RangeKey.

  static BufferKey of(uint32_t index) { return {index, 0}; }
  bool meets(const BufferKey& other) const { return index == other.index; }
  bool may_meet(const BufferKey& other) const { return meets(other); }
  void store(BufferKey& place) const { place.index = index; }
  void store(BufferKey& place, uint16_t use_of_access) const {
    store(place);
    place.use = use_of_access;
  }
};

}  // namespace interlock
