// EpochList: the accesses of an epoch in the order in which they came. While an epoch is short, to
// compare with all of it is cheaper than any index, and leaves nothing behind.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "encoder/sync/access_codes.h"
#include "encoder/sync/epoch_keys.h"

namespace interlock {

template <typename Key>
class EpochList {
 public:
  // Operands that a dispatch may have, and accesses that add() may leave listed without a conflict.
  static constexpr size_t kMaxOperands = 64;
  static constexpr size_t kMaxListed = 64;

  // Lists a dispatch. Returns true iff it conflicts with what was listed, which is then forgotten:
  // a new epoch begins. An operand conflicts with each earlier access that it meets, but for those
  // that AccessCodes allows; none with another of its dispatch.
  // `key_of(operand)` returns a Key; it is called once for each operand, in order.
  // Requires: size() <= kMaxListed, at most kMaxOperands.
  // Inlined, though it is large: what `key_of` needs is in registers then.
  // Cost: for operands that read, linear in the accesses listed that do not; for others, in all.
  template <typename Operand, typename Codes, typename KeyOf>
  [[gnu::always_inline]] bool add(std::span<const Operand> operands, const Codes& codes,
                                  const KeyOf& key_of) {
    if (read_end_ + other_end_ + operands.size() > kPlaces) move_to_front();
    const uint32_t read_end = read_end_;
    const uint32_t other_end = other_end_;
    uint32_t next_read = read_end;
    uint32_t next_other = other_end;
    const auto append = [&](const Key& key, AccessMode mode) {
      if (mode <= AccessMode::kRead) {
        key.store(reads_[next_read++]);
      } else {
        key.store(others_[next_other++], codes.use_of(mode));
      }
    };
    const auto conflicts = [&](const Key& key, AccessMode mode) {
      return conflicts_with_other(key, codes, mode, other_end) ||
             (mode > AccessMode::kRead && meets_read(key, read_end));
    };
    bool is_conflict = false;
    auto operand = operands.begin();
    for (; operand != operands.end(); ++operand) {
      // Most dispatches conflict, and then the rest is only appended. Where keys are small, a loop
      // of its own does that faster; where they fill the registers, one loop is faster.
      if (sizeof(Key) <= sizeof(uint64_t) && is_conflict) break;
      const Key key = key_of(*operand);
      is_conflict = is_conflict || conflicts(key, operand->mode);
      append(key, operand->mode);
    }
    for (; operand != operands.end(); ++operand) append(key_of(*operand), operand->mode);
    count_ += operands.size();
    if (is_conflict) {
      read_begin_ = read_end;
      other_begin_ = other_end;
      count_ = operands.size();
    }
    read_end_ = next_read;
    other_end_ = next_other;
    return is_conflict;
  }

  // Lists one access of the current epoch. Requires: size() < kMaxListed.
  void append(const Key& key, uint16_t use) {
    if (read_end_ + other_end_ == kPlaces) move_to_front();
    ++count_;
    const bool only_reads = use <= static_cast<uint16_t>(AccessMode::kRead);
    key.store(only_reads ? reads_[read_end_++] : others_[other_end_++], use);
  }

  size_t size() const { return count_; }
  void clear() {
    read_begin_ = read_end_ = other_begin_ = other_end_ = 0;
    count_ = 0;
  }

  // Calls visit(key, use) for each access.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    constexpr auto kRead = static_cast<uint16_t>(AccessMode::kRead);
    for (size_t i = read_begin_; i < read_end_; ++i) visit(reads_[i], kRead);
    for (size_t i = other_begin_; i < other_end_; ++i) visit(others_[i], others_[i].use);
  }

 private:
  // A dispatch that conflicts stays where it was appended, and what comes before it is forgotten:
  // so there are more places than accesses, and only now and then must those left move.
  static constexpr size_t kPlaces = kMaxListed + kMaxOperands + 64;

  // Most conflicts are with what came last. Those of the epoch, up to `end`.
  template <typename Codes>
  bool conflicts_with_other(const Key& key, const Codes& codes, AccessMode mode,
                            uint32_t end) const {
    const Key* const first = others_.data() + other_begin_;
    for (const Key* other = others_.data() + end; other != first;) {
      --other;
      if (other->meets(key) && !codes.allows_after(other->use, mode)) return true;
    }
    return false;
  }

  bool meets_read(const Key& key, uint32_t end) const {
    const Key* const first = reads_.data() + read_begin_;
    for (const Key* read = reads_.data() + end; read != first;) {
      --read;
      if (read->meets(key)) return true;
    }
    return false;
  }

  void move_to_front() {
    std::copy(&reads_[read_begin_], &reads_[read_end_], reads_.data());
    std::copy(&others_[other_begin_], &others_[other_end_], others_.data());
    read_end_ -= std::exchange(read_begin_, 0);
    other_end_ -= std::exchange(other_begin_, 0);
  }

  std::array<Key, kPlaces> reads_;
  std::array<Key, kPlaces> others_;
  uint32_t read_begin_ = 0;  // Those of the epoch are in [begin, end).
  uint32_t read_end_ = 0;
  uint32_t other_begin_ = 0;
  uint32_t other_end_ = 0;
  size_t count_ = 0;
};

}  // namespace interlock
