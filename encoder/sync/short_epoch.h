// ShortEpoch: the accesses of an epoch of a few, in one list. Most streams of real encoders have no
// others, so that this is nearly all that tracking costs them: each operand is compared with what
// came before, the last access first, and appended, in one pass and without a call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "encoder/program/program.h"

namespace interlock {

// What came of a dispatch.
enum class ShortEpochAdded : uint8_t { kNot, kIsFree, kConflicts };

// `Key` is one of encoder/sync/epoch_keys.h.
template <typename Key>
class ShortEpoch {
 public:
  static constexpr size_t kMost = 12;  // Accesses.

  // Adds a dispatch as EpochList::add() does: kConflicts means that a new epoch begins with it.
  // kNot, and nothing is changed, where the epoch is closed or would have more than kMost accesses.
  // Cost: linear in the accesses, for each operand up to the first that conflicts.
  template <typename Operand, typename Codes, typename KeyOf>
  [[gnu::always_inline]] ShortEpochAdded add(std::span<const Operand> operands, const Codes& codes,
                                             const KeyOf& key_of) {
    if (end_ + operands.size() > limit_) return ShortEpochAdded::kNot;
    const Key* const first = keys_.data() + begin_;
    Key* const last = keys_.data() + end_;
    Key* place = last;
    bool is_conflict = false;
    const Operand* operand = operands.data();
    const Operand* const operands_end = operand + operands.size();
    while (operand != operands_end && !is_conflict) {
      const Key key = key_of(*operand);
      const AccessMode mode = (operand++)->mode;
      is_conflict = conflicts(first, last, key, codes, mode);
      key.store(*place++, codes.use_of(mode));
    }
    // Most dispatches conflict, and then the rest is only appended.
    for (; operand != operands_end; ++operand) {
      key_of(*operand).store(*place++, codes.use_of(operand->mode));
    }
    const size_t before = end_;
    end_ = before + operands.size();
    if (!is_conflict) return ShortEpochAdded::kIsFree;
    begin_ = before;
    limit_ = before + kMost;
    if (limit_ > kPlaces) [[unlikely]]
      move_to_front();
    return ShortEpochAdded::kConflicts;
  }

  // Whether it takes accesses.
  bool is_open() const { return limit_ != 0; }
  void open() { limit_ = begin_ + kMost; }

  // Adds one access. Requires: it is open, and size() < kMost.
  void append(const Key& key, uint16_t use) { key.store(keys_[end_++], use); }

  // Forgets all, and takes no more.
  void close() { begin_ = end_ = limit_ = 0; }

  size_t size() const { return end_ - begin_; }

  // Calls visit(key, use) for each access, in the order in which they came.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (size_t i = begin_; i < end_; ++i) visit(keys_[i], keys_[i].use);
  }

 private:
  // A dispatch that conflicts stays where it was appended, as in EpochList.
  static constexpr size_t kPlaces = 64;

  template <typename Codes>
  [[gnu::always_inline]] static bool conflicts(const Key* first, const Key* last, const Key& key,
                                               const Codes& codes, AccessMode mode) {
    while (last != first) {
      --last;
      if (last->may_meet(key) && !codes.allows_after(last->use, mode) && last->meets(key)) {
        return true;
      }
    }
    return false;
  }

  [[gnu::noinline]] void move_to_front() {
    std::copy(keys_.data() + begin_, keys_.data() + end_, keys_.data());
    end_ -= begin_;
    begin_ = 0;
    limit_ = kMost;
  }

  size_t begin_ = 0;  // Those of the epoch are in [begin, end).
  size_t end_ = 0;
  size_t limit_ = 0;               // Of `end_`: kMost behind `begin_`; 0 while it is closed.
  std::array<Key, kPlaces> keys_;  // No value until they are given one.
};

}  // namespace interlock
