// BufferTable: the registered buffers of a tracker. A buffer that shares no byte with another, and
// whose bytes are told apart from all others but not from each other, is exclusive: its stamp is
// here, next to what says that a handle is valid, so that an access costs one cache line. Any other
// buffer is a name for a range.
#pragma once

#include <algorithm>
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
    uint32_t generation = UINT32_MAX;  // Of the handle; of none, if it was removed.
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
  const Bytes& bytes(uint32_t index) const { return bytes_[index]; }

  // Those of a handle; checks it as check() does, in the same cache line.
  const Bytes& bytes_of(BufferId id) const {
    // By addresses, which takes no count of buffers: a count is a difference, divided.
    const auto begin = reinterpret_cast<uintptr_t>(bytes_.data());
    const auto end = reinterpret_cast<uintptr_t>(bytes_.data() + bytes_.size());
    INTERLOCK_CHECK(begin + size_t{id.index} * sizeof(Bytes) < end);
    const Bytes& bytes = bytes_[id.index];
    INTERLOCK_CHECK(bytes.generation == id.generation);
    return bytes;
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

  void check_one(BufferId id) const;

  struct State {
    uint32_t stamp = 0;
    uint32_t generation = 0;
  };

  std::vector<State> states_;
  std::vector<Bytes> bytes_;
  std::vector<uint32_t> free_;
  uint32_t generation_ = 0;  // How many buffers have been removed.
  size_t shared_count_ = 0;
  size_t used_count_ = 0;
};

}  // namespace interlock
