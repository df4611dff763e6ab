// ListedEpoch: what an epoch does, in the cheaper of two lists: one for a few accesses, and one for
// more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encoder/sync/access_codes.h"
#include "encoder/sync/epoch_list.h"
#include "encoder/sync/short_epoch.h"

namespace interlock {

template <typename Key>
class ListedEpoch {
 public:
  static constexpr size_t kMaxOperands = EpochList<Key>::kMaxOperands;
  static constexpr size_t kMaxListed = EpochList<Key>::kMaxListed;

  // ShortEpoch::add().
  template <typename Operand, typename Codes, typename KeyOf>
  [[gnu::always_inline]] ShortEpochAdded add_to_few(std::span<const Operand> operands,
                                                    const Codes& codes, const KeyOf& key_of) {
    return few_.add(operands, codes, key_of);
  }

  // Lists a dispatch, as EpochList::add() does, whatever it has. Requires: size() <= kMaxListed, at
  // most kMaxOperands.
  template <typename Operand, typename Codes, typename KeyOf>
  bool add(std::span<const Operand> operands, const Codes& codes, const KeyOf& key_of) {
    if (more_.size() == 0) return add_to_few_or_more(operands, codes, key_of);
    const bool was_long = more_.size() > ShortEpoch<Key>::kMost;
    const bool is_conflict = more_.add(operands, codes, key_of);
    // Who had more than a few may well have more again.
    if (is_conflict && !was_long && more_.size() <= ShortEpoch<Key>::kMost) move_to_few();
    return is_conflict;
  }

  // Lists one access of the current epoch. Requires: size() < kMaxListed.
  void append(const Key& key, uint16_t use) {
    move_to_more();
    more_.append(key, use);
  }

  size_t size() const { return few_.size() + more_.size(); }

  // Whether it has accesses, or add_to_few() may list some.
  bool is_in_use() const { return few_.is_open() || more_.size() > 0; }

  // Forgets all, and is not open.
  void clear() {
    few_.close();
    more_.clear();
  }

  // Calls visit(key, use) for each access.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    few_.for_each(visit);
    more_.for_each(visit);
  }

 private:
  // Apart, so that what is left of add() keeps what it needs in registers.
  template <typename Operand, typename Codes, typename KeyOf>
  [[gnu::noinline]] bool add_to_few_or_more(std::span<const Operand> operands, const Codes& codes,
                                            const KeyOf& key_of) {
    few_.open();
    const ShortEpochAdded added = few_.add(operands, codes, key_of);
    if (added != ShortEpochAdded::kNot) return added == ShortEpochAdded::kConflicts;
    move_to_more();
    return more_.add(operands, codes, key_of);
  }

  void move_to_more() {
    few_.for_each([&](const Key& key, uint16_t use) { more_.append(key, use); });
    few_.close();
  }

  [[gnu::noinline]] void move_to_few() {
    few_.open();
    more_.for_each([&](const Key& key, uint16_t use) { few_.append(key, use); });
    more_.clear();
  }

  ShortEpoch<Key> few_;  // All of the epoch, or nothing.
  EpochList<Key> more_;
};

}  // namespace interlock
