// EpochList: the accesses of an epoch in the order in which they came. While an epoch is short, to
// compare with all of it is cheaper than any index, and leaves nothing behind.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "encoder/program/ids.h"
#include "encoder/program/range.h"
#include "encoder/sync/access_codes.h"

namespace interlock {

// Bytes of a memory; an empty range meets nothing.
struct RangeKey {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t memory = 0;

  static RangeKey of(MemoryId memory, ByteRange range) {
    return {range.begin, range.end, memory.index};
  }
  bool meets(const RangeKey& other) const {
    return std::max(begin, other.begin) < std::min(end, other.end) && memory == other.memory;
  }
};

// A registered buffer, where no two share bytes.
struct BufferKey {
  uint32_t index = 0;

  bool meets(const BufferKey& other) const { return index == other.index; }
};

template <typename Key>
class EpochList {
 public:
  // Operands that a dispatch may have, and accesses that add() may leave listed without a conflict.
  static constexpr size_t kMaxOperands = 64;
  static constexpr size_t kMaxListed = 64;

  // Lists a dispatch. Returns true iff it conflicts with what was listed, which is then forgotten:
  // a new epoch begins. An operand conflicts with each earlier access that it meets, but for those
  // of the code that AccessCodes allows; none with another of its dispatch.
  // `key_of(operand)` returns a Key. Requires: size() <= kMaxListed, at most kMaxOperands.
  // Cost: for operands that read, linear in the accesses listed that do not; for others, in all.
  template <typename Operand, typename KeyOf>
  bool add(std::span<const Operand> operands, AccessCodes codes, const KeyOf& key_of) {
    bool is_conflict = false;
    for (const Operand& operand : operands) {
      if (conflicts(key_of(operand), codes.code_of(operand.mode),
                    codes.allowed_before(operand.mode))) {
        is_conflict = true;
        clear();
        break;
      }
    }
    for (const Operand& operand : operands) append(key_of(operand), codes.code_of(operand.mode));
    return is_conflict;
  }

  // Lists one access of the current epoch. Requires: size() < kMaxListed.
  void append(const Key& key, uint32_t code) {
    if (code == AccessCodes::kReadCode) {
      reads_[read_count_++] = key;
    } else {
      others_[other_count_++] = {key, code};
    }
  }

  size_t size() const { return read_count_ + other_count_; }
  void clear() { read_count_ = other_count_ = 0; }

  // Calls visit(key, code) for each access.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (size_t i = 0; i < read_count_; ++i) visit(reads_[i], AccessCodes::kReadCode);
    for (size_t i = 0; i < other_count_; ++i) visit(others_[i].key, others_[i].code);
  }

 private:
  struct Entry {
    Key key;
    uint32_t code = 0;  // As AccessCodes::code_of().
  };

  // Most conflicts are with what came last.
  bool conflicts(const Key& key, uint32_t code, uint32_t allowed) const {
    for (size_t i = other_count_; i > 0; --i) {
      if (others_[i - 1].key.meets(key) && others_[i - 1].code != allowed) return true;
    }
    if (code == AccessCodes::kReadCode) return false;
    for (size_t i = read_count_; i > 0; --i) {
      if (reads_[i - 1].meets(key)) return true;
    }
    return false;
  }

  std::array<Key, kMaxListed + kMaxOperands> reads_;
  std::array<Entry, kMaxListed + kMaxOperands> others_;
  size_t read_count_ = 0;
  size_t other_count_ = 0;
};

}  // namespace interlock
