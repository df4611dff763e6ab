// ShortEpoch: the accesses of an epoch of a few, in one list. Most streams of real encoders have no
// others, so that this is nearly all that tracking costs them: each operand is compared with what
// came before, the last access first, and appended, in one pass and without a call.
#pragma once

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
    const size_t before = count_;
    if (before + operands.size() > limit_) return ShortEpochAdded::kNot;
    const Key* const last = keys_.data() + before;
    Key* place = keys_.data() + before;
    bool is_conflict = false;
    for (const Operand& operand : operands) {
      const Key key = key_of(operand);
      is_conflict = conflicts(last, key, codes, operand.mode);
      if (is_conflict) {
        if constexpr (Key::kIsLookedUp) begin_anew(operands, operand, key, codes, key_of);
        break;
      }
      key.store(*place++, codes.use_of(operand.mode));
    }
    if (!is_conflict) {
      count_ = before + operands.size();
      return ShortEpochAdded::kIsFree;
    }
    // A new epoch stands where the last one stood: where it is does not depend on what was before,
    // so that a core knows it early.
    if constexpr (!Key::kIsLookedUp) {
      place = keys_.data();
      for (const Operand& operand : operands) {
        key_of(operand).store(*place++, codes.use_of(operand.mode));
      }
    }
    count_ = operands.size();
    return ShortEpochAdded::kConflicts;
  }

  // Whether it takes accesses.
  bool is_open() const { return limit_ != 0; }
  void open() { limit_ = kMost; }

  // Adds one access. Requires: it is open, and size() < kMost.
  void append(const Key& key, uint16_t use) { key.store(keys_[count_++], use); }

  // Forgets all, and takes no more.
  void close() { count_ = limit_ = 0; }

  size_t size() const { return count_; }

  // Calls visit(key, use) for each access, in the order in which they came.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (size_t i = 0; i < count_; ++i) visit(keys_[i], keys_[i].use);
  }

 private:
  // The same where a key is looked up. `key` is that of `found`, the operand that conflicts: most
  // often the first one, so that nothing is looked up twice.
  template <typename Operand, typename Codes, typename KeyOf>
  [[gnu::always_inline]] void begin_anew(std::span<const Operand> operands, const Operand& found,
                                         const Key& key, const Codes& codes, const KeyOf& key_of) {
    Key* place = keys_.data();
    const Operand* operand = operands.data();
    for (; operand != &found; ++operand) {
      key_of(*operand).store(*place++, codes.use_of(operand->mode));
    }
    key.store(*place++, codes.use_of(found.mode));
    const Operand* const end = operands.data() + operands.size();
    while (++operand != end) key_of(*operand).store(*place++, codes.use_of(operand->mode));
  }

  template <typename Codes>
  [[gnu::always_inline]] bool conflicts(const Key* last, const Key& key, const Codes& codes,
                                        AccessMode mode) const {
    while (last != keys_.data()) {
      --last;
      if (last->may_meet(key) && !codes.allows_after(last->use, mode) && last->meets(key)) {
        return true;
      }
    }
    return false;
  }

  size_t count_ = 0;
  size_t limit_ = 0;             // kMost, or 0 while it is closed.
  std::array<Key, kMost> keys_;  // No value until they are given one.
};

}  // namespace interlock
