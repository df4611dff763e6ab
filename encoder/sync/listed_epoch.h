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
  template <typename Operand, typename Codes, typename Keys>
  [[gnu::always_inline]] ShortEpochAdded add_to_few(std::span<const Operand> operands,
                                                    const Codes& codes, const Keys& keys) {
    return few_.add(operands, codes, keys);
  }

  // Whether is_one(key, use) for one of few accesses.
  template <typename IsOne>
  bool any_of_few(const IsOne& is_one) const {
    return few_.any(is_one);
  }

  // The epoch has few accesses, or none, and dispatches may be added to them.
  bool open_few() {
    if (more_.size() > 0) return false;
    few_.open();
    return true;
  }

  // Lists a dispatch, whatever it has. Returns true iff it conflicts with what was listed, which is
  // then forgotten: a new epoch begins. Requires: size() <= kMaxListed, at most kMaxOperands, and
  // Key::meets() tells of all conflicts.
  template <typename Operand, typename Codes, typename Keys>
  bool add(std::span<const Operand> operands, const Codes& codes, const Keys& keys) {
    if (open_few()) {
      const ShortEpochAdded added = few_.add(operands, codes, keys);
      if (added != ShortEpochAdded::kNot) return added == ShortEpochAdded::kConflicts;
      move_to_more();
    }
    const bool was_long = more_.size() > ShortEpoch<Key>::kMost;
    const bool is_conflict = more_.add(operands, codes, [&](const Operand& operand) {
      keys.check(operand);
      return keys.of(operand);
    });
    // Who had more than a few may well have more again.
    if (is_conflict && !was_long && operands.size() <= ShortEpoch<Key>::kMost) {
      few_.open();
      few_.add(operands, codes, keys);
      more_.clear();
    }
    return is_conflict;
  }

  // Lists one access of the current epoch. Requires: size() < kMaxListed.
  void append(const Key& key, uint32_t code) {
    move_to_more();
    more_.append(key, code);
  }

  size_t size() const { return few_.size() + more_.size(); }

  // Forgets all, and is not open.
  void clear() {
    few_.close();
    more_.clear();
  }

  // Calls visit(key, code) for each access.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    few_.for_each([&](const Key& key, uint16_t use) { visit(key, AccessCodes::code_of_use(use)); });
    more_.for_each(visit);
  }

 private:
  void move_to_more() {
    few_.for_each(
        [&](const Key& key, uint16_t use) { more_.append(key, AccessCodes::code_of_use(use)); });
    few_.close();
  }

  ShortEpoch<Key> few_;  // All of the epoch, or nothing.
  EpochList<Key> more_;
};

}  // namespace interlock
