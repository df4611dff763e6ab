// BufferTable: the registered buffers of a tracker. A buffer that shares no byte with another, and
// whose bytes are told apart from all others but not from each other, is exclusive: its stamp is
// here, next to what says that a handle is valid, so that an access costs one cache line. Any other
// buffer is a name for a range.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/ids.h"
#include "encoder/program/range.h"

namespace interlock {

// A registered buffer. A handle that was unregistered is never valid again, though its index is
// reused (until 2^31 buffers have been unregistered).
struct BufferId {
  uint32_t index = UINT32_MAX;
  uint32_t generation = 0;

  bool operator==(const BufferId&) const = default;
};

class BufferTable {
 public:
  struct Bytes {
    ByteRange range;
    MemoryId memory;
  };

  // Bytes in the row of all memories, where each has a terabyte: two buffers share bytes iff their
  // places do, whatever their memories. An empty buffer is at the end of it.
  struct Place {
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  // Returns the handle of a new buffer, which is not exclusive. Cost: amortized constant.
  BufferId add(MemoryId memory, ByteRange range);

  // Requires: `id` is valid. Cost: constant.
  void remove(BufferId id);

  // Stays on in release builds: bytes of a freed buffer may be another's by now.
  void check(BufferId id) const { Checker(*this).check(id); }

  // The same for many handles, of as many buffers as there are now: what is stored in between might
  // be the table's for all that a compiler knows.
  class Checker {
   public:
    explicit Checker(const BufferTable& table)
        : table_(table), count_(table.states_.size()), generation_(table.generation_) {}
    void check(BufferId id) const {
      const bool was_any_removed = id.generation != generation_;
      if (was_any_removed || id.index >= count_) [[unlikely]]
        table_.check_one(id);
    }

   private:
    const BufferTable& table_;
    size_t count_;
    uint32_t generation_;
  };

  // The stamp of the buffer if the handle is valid and the buffer exclusive, else nullptr.
  uint32_t* find_stamp(BufferId id) {
    if (id.index >= states_.size()) return nullptr;
    State& state = states_[id.index];
    return state.generation == id.generation ? &state.stamp : nullptr;
  }

  bool is_exclusive(uint32_t index) const { return (states_[index].generation & kIsShared) == 0; }
  Bytes bytes(uint32_t index) const { return bytes_at(entries_[index]); }

  // Those of a handle; checks it as check() does, in the same cache line.
  Bytes bytes_of(BufferId id) const { return bytes_at(entry_of(id)); }

  // The same as a place. Requires: has_places().
  const Place& place_of(BufferId id) const { return entry_of(id).place; }

  // Whether all buffers have places: the first terabyte of the first 2^23 memories does.
  bool has_places() const { return placeless_count_ == 0; }

  static Bytes bytes_at(const Place& place) {
    const uint64_t memory = place.begin >> kPlaceBits;
    const uint64_t first = memory << kPlaceBits;
    return {{place.begin - first, place.end - first}, MemoryId(static_cast<uint32_t>(memory))};
  }

  // Of an exclusive buffer.
  uint32_t& stamp(uint32_t index) { return states_[index].stamp; }
  uint32_t stamp(uint32_t index) const { return states_[index].stamp; }

  void make_exclusive(uint32_t index, uint32_t stamp);
  void make_shared(uint32_t index);

  // How many buffers are not exclusive: empty ones are among them, which meet nothing, not even
  // themselves.
  size_t shared_count() const { return shared_count_; }

  void forget_stamps();
  // The bytes in which find_stamp() looks, where all buffers are used.
  size_t lookup_bytes() const { return states_.size() * sizeof(State); }

  // The same of as many buffers as note_used() was told of, each in a cache line of its own.
  void note_used(size_t count) { used_count_ += count; }
  size_t used_bytes() const { return std::min(used_count_ * kLineBytes, lookup_bytes()); }
  size_t size_bytes() const;

 private:
  static constexpr uint32_t kIsShared = uint32_t{1} << 31;  // Part of a generation.
  static constexpr size_t kLineBytes = 64;

  static constexpr int kPlaceBits = 40;

  // What says where a buffer is. Its handle is here again, and of no buffer where there is none.
  struct Entry {
    Place place;  // Where it has none: the range as it is.
    BufferId id;
    MemoryId memory;
    bool has_place = false;
  };

  static Bytes bytes_at(const Entry& entry) {
    const uint64_t first =
        entry.has_place ? uint64_t{entry.memory.index} << kPlaceBits : uint64_t{0};
    return {{entry.place.begin - first, entry.place.end - first}, entry.memory};
  }

  // There are 2^n entries, so that any index is of one, and all of the handle is compared at once.
  const Entry& entry_of(BufferId id) const {
    const Entry& entry = entries_[id.index & entry_mask_];
    const bool is_registered = std::bit_cast<uint64_t>(entry.id) == std::bit_cast<uint64_t>(id);
    INTERLOCK_CHECK(is_registered);
    return entry;
  }

  void check_one(BufferId id) const;

  struct State {
    uint32_t stamp = 0;
    uint32_t generation = 0;
  };

  std::vector<State> states_;
  std::vector<Entry> entries_;
  uint32_t entry_mask_ = 0;
  std::vector<uint32_t> free_;
  uint32_t generation_ = 0;  // How many buffers have been removed.
  size_t shared_count_ = 0;
  size_t placeless_count_ = 0;
  size_t used_count_ = 0;
};

}  // namespace interlock
