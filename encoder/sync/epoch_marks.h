// EpochMarks: of each access in a list of an epoch a mark, a number or two. Marks say of many
// accesses at once that another one meets none of them, which is what most find; who may meet some
// is compared with each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "encoder/sync/epoch_keys.h"
#include "encoder/sync/lanes.h"

namespace interlock {

// Numbers at places, read four at a time from any place on.
template <size_t kPlaces>
class LaneRow {
 public:
  // At the next places, too: what is read behind the last number is that number again.
  void put(size_t place, uint32_t number) { Lanes::all(number).store(&numbers_[place]); }
  Lanes from(size_t place) const { return Lanes::from(&numbers_[place]); }

  // Those in [first, end) go to [0, end - first).
  void move_to_front(size_t first, size_t end) {
    if (first == end) return;
    std::copy(&numbers_[first], &numbers_[end], numbers_.data());
    put(end - first - 1, numbers_[end - first - 1]);
  }

 private:
  std::array<uint32_t, kPlaces + Lanes::kCount - 1> numbers_;  // No value until they are given one.
};

template <typename Key, size_t kPlaces>
class EpochMarks;

// Of ranges, where they begin and end on a circle of 2^32 granules of 64 bytes, on which each
// memory begins elsewhere.
template <size_t kPlaces>
class EpochMarks<RangeKey, kPlaces> {
 public:
  struct Mark {
    uint32_t begin;
    uint32_t last;
    bool is_wide;  // Too long for the circle: marks say nothing of it.

    static Mark of(const RangeKey& key) {
      const uint32_t start = key.memory * kGolden;
      return {static_cast<uint32_t>(key.begin / kGranuleBytes) + start,
              static_cast<uint32_t>((key.end - 1) / kGranuleBytes) + start,
              key.end - key.begin > kMostBytes};
    }
  };

  void put(size_t place, const Mark& mark) {
    begins_.put(place, mark.begin);
    lasts_.put(place, mark.last);
  }

  // False only if it meets none of those in [first, end). Requires: none of them and it is wide.
  // Two are apart where one ends before the other begins, by the sign of their difference: on the
  // circle that is their order, while both together are shorter than half of it.
  bool may_meet(const Mark& mark, size_t first, size_t end) const {
    const Lanes begin = Lanes::all(mark.begin);
    const Lanes last = Lanes::all(mark.last);
    Lanes are_apart = Lanes::all(UINT32_MAX);
    for (size_t place = first; place < end; place += Lanes::kCount) {
      are_apart = are_apart & ((last - begins_.from(place)) | (lasts_.from(place) - begin));
    }
    return !are_apart.all_have_top_bit();
  }

  void move_to_front(size_t first, size_t end) {
    begins_.move_to_front(first, end);
    lasts_.move_to_front(first, end);
  }

 private:
  static constexpr uint64_t kGranuleBytes = 64;
  static constexpr uint64_t kMostBytes = kGranuleBytes << 29;  // An eighth of the circle.
  static constexpr uint32_t kGolden = 0x9e3779b1;

  LaneRow<kPlaces> begins_;
  LaneRow<kPlaces> lasts_;
};

// Of buffers, their indices.
template <size_t kPlaces>
class EpochMarks<BufferKey, kPlaces> {
 public:
  struct Mark {
    uint32_t index;
    static constexpr bool is_wide = false;

    static Mark of(const BufferKey& key) { return {key.index}; }
  };

  void put(size_t place, const Mark& mark) { indices_.put(place, mark.index); }

  bool may_meet(const Mark& mark, size_t first, size_t end) const {
    const Lanes index = Lanes::all(mark.index);
    Lanes are_equal = Lanes::all(0);
    for (size_t place = first; place < end; place += Lanes::kCount) {
      are_equal = are_equal | Lanes::equal(indices_.from(place), index);
    }
    return are_equal.any_has_top_bit();
  }

  void move_to_front(size_t first, size_t end) { indices_.move_to_front(first, end); }

 private:
  LaneRow<kPlaces> indices_;
};

}  // namespace interlock
