// Lanes: four numbers that are computed with at once, as a vector of GCC's and Clang's, which every
// machine has in some form, or as an array.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace interlock {

// By an array: what Lanes are, and what they are for a compiler without vectors.
class ArrayLanes {
 public:
  static constexpr size_t kCount = 4;

  static ArrayLanes all(uint32_t number) { return ArrayLanes({number, number, number, number}); }
  static ArrayLanes from(const uint32_t* numbers) {
    Numbers copy;
    std::memcpy(copy.data(), numbers, sizeof copy);
    return ArrayLanes(copy);
  }
  void store(uint32_t* place) const { std::memcpy(place, numbers_.data(), sizeof numbers_); }

  // Each with its like; differences wrap.
  friend ArrayLanes operator-(const ArrayLanes& a, const ArrayLanes& b) {
    return each(a, b, [](uint32_t x, uint32_t y) { return x - y; });
  }
  friend ArrayLanes operator|(const ArrayLanes& a, const ArrayLanes& b) {
    return each(a, b, [](uint32_t x, uint32_t y) { return x | y; });
  }
  friend ArrayLanes operator&(const ArrayLanes& a, const ArrayLanes& b) {
    return each(a, b, [](uint32_t x, uint32_t y) { return x & y; });
  }
  friend ArrayLanes operator~(const ArrayLanes& a) {
    return each(a, a, [](uint32_t x, uint32_t) { return ~x; });
  }
  // All bits of a number where both are equal, else none.
  static ArrayLanes equal(const ArrayLanes& a, const ArrayLanes& b) {
    return each(a, b, [](uint32_t x, uint32_t y) { return x == y ? UINT32_MAX : 0; });
  }
  // The same where the first one is greater, of numbers with signs.
  static ArrayLanes greater(const ArrayLanes& a, const ArrayLanes& b) {
    return each(a, b, [](uint32_t x, uint32_t y) {
      return static_cast<int32_t>(x) > static_cast<int32_t>(y) ? UINT32_MAX : 0;
    });
  }

  friend ArrayLanes greater_of(const ArrayLanes& a, const ArrayLanes& b) {
    return each(a, b, [](uint32_t x, uint32_t y) {
      return static_cast<int32_t>(x) > static_cast<int32_t>(y) ? x : y;
    });
  }

  // Bit i is the top bit of number i.
  uint32_t top_bits() const {
    uint32_t bits = 0;
    for (size_t i = 0; i < kCount; ++i) bits |= numbers_[i] >> 31 << i;
    return bits;
  }

  bool all_have_top_bit() const {
    return std::all_of(numbers_.begin(), numbers_.end(), [](uint32_t x) { return x >> 31 != 0; });
  }
  bool any_has_top_bit() const {
    return std::any_of(numbers_.begin(), numbers_.end(), [](uint32_t x) { return x >> 31 != 0; });
  }

 private:
  using Numbers = std::array<uint32_t, kCount>;

  explicit ArrayLanes(const Numbers& numbers) : numbers_(numbers) {}

  template <typename Compute>
  static ArrayLanes each(const ArrayLanes& a, const ArrayLanes& b, const Compute& compute) {
    Numbers numbers{};
    for (size_t i = 0; i < kCount; ++i) numbers[i] = compute(a.numbers_[i], b.numbers_[i]);
    return ArrayLanes(numbers);
  }

  Numbers numbers_;
};

#if defined(__GNUC__)

class Lanes {
 public:
  static constexpr size_t kCount = ArrayLanes::kCount;

  static Lanes all(uint32_t number) { return Lanes(Vector{number, number, number, number}); }
  static Lanes from(const uint32_t* numbers) {
    Vector vector;
    std::memcpy(&vector, numbers, sizeof vector);
    return Lanes(vector);
  }
  void store(uint32_t* place) const { std::memcpy(place, &vector_, sizeof vector_); }

  friend Lanes operator-(Lanes a, Lanes b) { return Lanes(a.vector_ - b.vector_); }
  friend Lanes operator|(Lanes a, Lanes b) { return Lanes(a.vector_ | b.vector_); }
  friend Lanes operator&(Lanes a, Lanes b) { return Lanes(a.vector_ & b.vector_); }
  static Lanes equal(Lanes a, Lanes b) {
    return Lanes(reinterpret_cast<Vector>(a.vector_ == b.vector_));
  }
  friend Lanes operator~(Lanes a) { return Lanes(~a.vector_); }
  static Lanes greater(Lanes a, Lanes b) {
    return Lanes(reinterpret_cast<Vector>(reinterpret_cast<Signed>(a.vector_) >
                                          reinterpret_cast<Signed>(b.vector_)));
  }
  friend Lanes greater_of(Lanes a, Lanes b) {
    const Lanes is_greater = greater(a, b);
    return (a & is_greater) | (b & ~is_greater);
  }

  uint32_t top_bits() const {
#ifdef __SSE2__
    using Floats [[gnu::vector_size(16)]] = float;
    return static_cast<uint32_t>(__builtin_ia32_movmskps(reinterpret_cast<Floats>(vector_)));
#else
    uint32_t bits = 0;
    for (size_t i = 0; i < kCount; ++i) bits |= vector_[i] >> 31 << i;
    return bits;
#endif
  }
#ifdef __SSE2__
  bool all_have_top_bit() const { return top_bits() == (uint32_t{1} << kCount) - 1; }
  bool any_has_top_bit() const { return top_bits() != 0; }
#else
  bool all_have_top_bit() const {
    const auto halves = reinterpret_cast<Halves>(vector_);
    return (halves[0] & halves[1] & kTopBits) == kTopBits;
  }
  bool any_has_top_bit() const {
    const auto halves = reinterpret_cast<Halves>(vector_);
    return ((halves[0] | halves[1]) & kTopBits) != 0;
  }
#endif

 private:
  using Vector [[gnu::vector_size(16)]] = uint32_t;
  using Signed [[gnu::vector_size(16)]] = int32_t;
#ifndef __SSE2__
  using Halves [[gnu::vector_size(16)]] = uint64_t;
  static constexpr uint64_t kTopBits = 0x80000000'80000000;
#endif

  explicit Lanes(Vector vector) : vector_(vector) {}

  Vector vector_;
};

#else
using Lanes = ArrayLanes;
#endif

}  // namespace interlock
