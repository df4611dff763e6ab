// ShortEpoch: the accesses of an epoch of a few, in one list. Most streams of real encoders have no
// others, so that this is nearly all that tracking costs them: a dispatch is compared with each
// access, the last one first, and is copied, without a call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

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
  // `keys.of(operand)` is its Key, of some before they are checked and of some twice.
  // `keys.check(operand)` is called once for each; it must not return where one is wrong.
  // `keys.conflict_besides(operands, codes)` is whether they conflict with the epoch in a way that
  // Key::meets() does not tell; it is asked where that tells of none.
  // Cost: linear in the accesses, for each operand up to the first that conflicts.
  template <typename Operand, typename Codes, typename Keys>
  [[gnu::always_inline]] ShortEpochAdded add(std::span<const Operand> operands, const Codes& codes,
                                             const Keys& keys) {
    if (count_ + operands.size() > limit_) return ShortEpochAdded::kNot;
    const bool is_conflict =
        conflict(operands, codes, keys) || keys.conflict_besides(operands, codes);
    const size_t before = is_conflict ? 0 : count_;
    count_ = before + operands.size();
    Key* place = keys_.data() + before;
    for (const Operand& operand : operands) {
      keys.check(operand);
      keys.of(operand).store(*place++, codes.use_of(operand.mode));
    }
    return is_conflict ? ShortEpochAdded::kConflicts : ShortEpochAdded::kIsFree;
  }

  // Whether it takes accesses.
  bool is_open() const { return limit_ != 0; }
  void open() { limit_ = kMost; }

  // Forgets all, and takes no more.
  void close() { limit_ = count_ = 0; }

  size_t size() const { return count_; }

  // Whether is_one(key, use) for one of the accesses, the last one first.
  template <typename IsOne>
  bool any(const IsOne& is_one) const {
    for (const Key* key = keys_.data() + count_; key != keys_.data();) {
      --key;
      if (is_one(*key, key->use)) return true;
    }
    return false;
  }

  // Calls visit(key, use) for each access, in the order in which they came.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (size_t i = 0; i < count_; ++i) visit(keys_[i], keys_[i].use);
  }

 private:
  template <typename Operand, typename Codes, typename Keys>
  [[gnu::always_inline]] bool conflict(std::span<const Operand> operands, const Codes& codes,
                                       const Keys& keys) const {
    const Key* const first = keys_.data();
    const Key* const last = first + count_;
    for (const Operand& operand : operands) {
      const Key key = keys.of(operand);
      for (const Key* other = last; other != first;) {
        --other;
        if (other->meets(key) && !codes.allows_after(other->use, operand.mode)) return true;
      }
    }
    return false;
  }

  size_t count_ = 0;
  size_t limit_ = 0;             // kMost, or 0 while it is closed.
  std::array<Key, kMost> keys_;  // No value until they are given one.
};

}  // namespace interlock
