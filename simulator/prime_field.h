// Arithmetic modulo the prime 2^61 - 1: sums and products without rounding.
#pragma once

#include <cstdint>

namespace interlock {

class FieldElement {
 public:
  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

  constexpr FieldElement() = default;
  constexpr explicit FieldElement(uint64_t number) : value_(number % kPrime) {}

  constexpr uint64_t value() const { return value_; }
  constexpr bool is_zero() const { return value_ == 0; }

  constexpr FieldElement operator+(FieldElement other) const {
    return FieldElement(value_ + other.value_);
  }
  constexpr FieldElement operator-() const { return FieldElement(kPrime - value_); }
  constexpr FieldElement operator*(FieldElement other) const {
    const Wide product = static_cast<Wide>(value_) * other.value_;
    // 2^61 is 1 here, so the high bits count like low ones.
    return FieldElement(static_cast<uint64_t>(product & kPrime) +
                        static_cast<uint64_t>(product >> 61));
  }

  auto operator<=>(const FieldElement&) const = default;

 private:
  __extension__ using Wide = unsigned __int128;

  uint64_t value_ = 0;
};

}  // namespace interlock
