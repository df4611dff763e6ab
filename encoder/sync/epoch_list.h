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
#include "encoder/sync/epoch_marks.h"

namespace interlock {

template <typename Key>
class EpochList {
 public:
  // Operands that a dispatch may have, and accesses that add() may leave listed without a conflict.
  static constexpr size_t kMaxOperands = 64;
  static constexpr size_t kMaxListed = Key::kMaxListed;

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
    const size_t read_begin = read_begin_;
    const size_t other_begin = other_begin_;
    const size_t read_end = read_end_;
    const size_t other_end = other_end_;
    const bool was_any_wide = has_wide_;
    size_t next_read = read_end;
    size_t next_other = other_end;
    bool is_wide = false;  // Some operand.
    const auto append = [&](const Key& key, const Mark& mark, AccessMode mode) -> const Key& {
      is_wide |= mark.is_wide;
      if (mode <= AccessMode::kRead) {
        read_marks_.put(next_read, mark);
        key.store(reads_[next_read]);
        return reads_[next_read++];
      }
      other_marks_.put(next_other, mark);
      key.store(others_[next_other], codes.use_of(mode));
      return others_[next_other++];
    };
    // Marks behind the ends may be those of earlier operands: a comparison too many, no more.
    const auto may_conflict = [&](const Mark& mark, AccessMode mode) {
      const bool is_unmarked = mark.is_wide | was_any_wide;
      return is_unmarked || other_marks_.may_meet(mark, other_begin, other_end) ||
             (mode > AccessMode::kRead && read_marks_.may_meet(mark, read_begin, read_end));
    };
    bool is_conflict = false;
    auto operand = operands.begin();
    for (; operand != operands.end(); ++operand) {
      // Most dispatches conflict, and then the rest is only appended. Where keys are small, a loop
      // of its own does that faster; where they fill the registers, one loop is faster.
      if (sizeof(Key) <= sizeof(uint64_t) && is_conflict) break;
      const Key key = key_of(*operand);
      const Mark mark = Mark::of(key);
      const bool is_suspect = !is_conflict && may_conflict(mark, operand->mode);
      const Key& listed = append(key, mark, operand->mode);
      if (is_suspect) is_conflict = conflicts(listed, codes, operand->mode, read_end, other_end);
    }
    for (; operand != operands.end(); ++operand) {
      const Key key = key_of(*operand);
      append(key, Mark::of(key), operand->mode);
    }
    count_ += operands.size();
    read_end_ = next_read;
    other_end_ = next_other;
    if (is_conflict) {
      read_begin_ = read_end;
      other_begin_ = other_end;
      count_ = operands.size();
      has_wide_ = false;
      if (next_read + next_other > kTurn) move_to_front();
    }
    has_wide_ |= is_wide;
    return is_conflict;
  }

  // Lists one access of the current epoch. Requires: size() < kMaxListed.
  void append(const Key& key, uint16_t use) {
    if (read_end_ + other_end_ == kPlaces) move_to_front();
    ++count_;
    const Mark mark = Mark::of(key);
    has_wide_ |= mark.is_wide;
    if (use <= static_cast<uint16_t>(AccessMode::kRead)) {
      read_marks_.put(read_end_, mark);
      key.store(reads_[read_end_++], use);
    } else {
      other_marks_.put(other_end_, mark);
      key.store(others_[other_end_++], use);
    }
  }

  size_t size() const { return count_; }
  void clear() {
    read_begin_ = read_end_ = other_begin_ = other_end_ = 0;
    count_ = 0;
    has_wide_ = false;
  }

  // Calls visit(key, use) for each access.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    constexpr auto kReadUse = static_cast<uint16_t>(AccessMode::kRead);
    for (size_t i = read_begin_; i < read_end_; ++i) visit(reads_[i], kReadUse);
    for (size_t i = other_begin_; i < other_end_; ++i) visit(others_[i], others_[i].use);
  }

 private:
  // A dispatch that conflicts stays where it was appended, and what comes before it is forgotten:
  // so there are more places than accesses, and only now and then must those left move: soon enough
  // for short epochs to stay in the nearest cache.
  static constexpr size_t kTurn = 192;
  static constexpr size_t kPlaces = kMaxListed + kMaxOperands + 64;

  using Marks = EpochMarks<Key, kPlaces>;
  using Mark = typename Marks::Mark;

  // With those of the epoch, up to these ends. Once an epoch, or so: apart, so that what asks keeps
  // what it needs in registers.
  template <typename Codes>
  [[gnu::noinline]] bool conflicts(const Key& key, Codes codes, AccessMode mode, size_t read_end,
                                   size_t other_end) const {
    const auto forbids = [&](const Key& other) {
      return other.meets(key) && !codes.allows_after(other.use, mode);
    };
    const auto meets = [&](const Key& read) { return read.meets(key); };
    const Mark mark = Mark::of(key);
    return is_any_near(mark, others_, other_marks_, other_begin_, other_end, forbids) ||
           (mode > AccessMode::kRead &&
            is_any_near(mark, reads_, read_marks_, read_begin_, read_end, meets));
  }

  // Whether any of [first, end) is so; asked only of who is where marks say that some may meet.
  template <typename Keys, typename IsSo>
  bool is_any_near(const Mark& mark, const Keys& keys, const Marks& marks, size_t first, size_t end,
                   const IsSo& is_so) const {
    const bool is_unmarked = mark.is_wide || has_wide_;
    for (size_t place = first; place < end; place += Lanes::kCount) {
      const size_t next = std::min(place + Lanes::kCount, end);
      if (!is_unmarked && !marks.may_meet(mark, place, next)) continue;
      if (std::any_of(&keys[place], &keys[next], is_so)) return true;
    }
    return false;
  }

  void move_to_front() {
    read_marks_.move_to_front(read_begin_, read_end_);
    other_marks_.move_to_front(other_begin_, other_end_);
    std::copy(&reads_[read_begin_], &reads_[read_end_], reads_.data());
    std::copy(&others_[other_begin_], &others_[other_end_], others_.data());
    read_end_ -= std::exchange(read_begin_, 0);
    other_end_ -= std::exchange(other_begin_, 0);
  }

  std::array<Key, kPlaces> reads_;
  std::array<Key, kPlaces> others_;
  size_t read_begin_ = 0;  // Those of the epoch are in [begin, end).
  size_t read_end_ = 0;
  size_t other_begin_ = 0;
  size_t other_end_ = 0;
  size_t count_ = 0;
  bool has_wide_ = false;  // Some access of the epoch: marks say nothing then.
  Marks read_marks_;       // Of `reads_`.
  Marks other_marks_;
};

}  // namespace interlock
