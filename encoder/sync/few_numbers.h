// FewNumbers: a number below 2^31 for each of up to eight queues, all computed with at once:
// nothing depends on which of them is which, which no branch predictor knows.
#pragma once

#include <array>
#include <cstdint>

#include "encoder/sync/lanes.h"

namespace interlock {

class FewNumbers {
 public:
  static constexpr uint32_t kCount = 2 * Lanes::kCount;
  using Array = std::array<uint32_t, kCount>;

  // 0 of each.
  FewNumbers() : low_(Lanes::all(0)), high_(Lanes::all(0)) {}

  static FewNumbers from(const uint32_t* numbers) {
    return {Lanes::from(numbers), Lanes::from(numbers + Lanes::kCount)};
  }
  void store(uint32_t* place) const {
    low_.store(place);
    high_.store(place + Lanes::kCount);
  }

  // The number of one queue, and 0 of the others.
  static FewNumbers of(uint32_t queue, uint32_t number) {
    const uint32_t* const bits = bits_of(queue);
    const Lanes all = Lanes::all(number);
    return {Lanes::from(bits) & all, Lanes::from(bits + Lanes::kCount) & all};
  }

  // The same with 0 of one queue.
  FewNumbers without(uint32_t queue) const {
    const uint32_t* const bits = bits_of(queue);
    return {low_ & ~Lanes::from(bits), high_ & ~Lanes::from(bits + Lanes::kCount)};
  }

  // Of each queue the number that is not 0. Requires: one of them is.
  friend FewNumbers operator|(const FewNumbers& a, const FewNumbers& b) {
    return {a.low_ | b.low_, a.high_ | b.high_};
  }

  // Of each queue the later number.
  friend FewNumbers latest_of(const FewNumbers& a, const FewNumbers& b) {
    return {greater_of(a.low_, b.low_), greater_of(a.high_, b.high_)};
  }

  // Has a bit for each queue of which `a` has a later number than `b`.
  friend uint32_t queues_later(const FewNumbers& a, const FewNumbers& b) {
    return Lanes::greater(a.low_, b.low_).top_bits() | Lanes::greater(a.high_, b.high_).top_bits()
                                                           << Lanes::kCount;
  }

  // Has a top bit iff some number of `other` is later.
  Lanes lead_over(const FewNumbers& other) const {
    return (low_ - other.low_) | (high_ - other.high_);
  }

 private:
  FewNumbers(Lanes low, Lanes high) : low_(low), high_(high) {}

  // All bits of the number of `queue`, none of the others. In one cache line, wherever they begin.
  static const uint32_t* bits_of(uint32_t queue) { return kOfOne.data() + (kCount - 1 - queue); }
  alignas(64) static constexpr std::array<uint32_t, 2 * kCount> kOfOne = {0, 0, 0, 0,
                                                                          0, 0, 0, UINT32_MAX};

  Lanes low_;
  Lanes high_;
};

}  // namespace interlock
