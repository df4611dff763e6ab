// Arithmetic modulo the prime 2^61 - 1: sums and products without rounding. And matrices of such
// numbers, whose product, other than that of numbers, tells its operands apart.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
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

// Two by two, by rows.
struct FieldMatrix {
  std::array<FieldElement, 4> entries;

  static constexpr FieldMatrix filled(FieldElement entry) { return {{entry, entry, entry, entry}}; }

  // Of the numbers that `number_of` gives for the entries 0 to 3.
  template <typename NumberOf>
  static constexpr FieldMatrix of_numbers(NumberOf number_of) {
    return {{FieldElement(number_of(0)), FieldElement(number_of(1)), FieldElement(number_of(2)),
             FieldElement(number_of(3))}};
  }

  constexpr bool is_zero() const { return *this == FieldMatrix(); }

  constexpr FieldMatrix transposed() const {
    return {{entries[0], entries[2], entries[1], entries[3]}};
  }
  constexpr FieldMatrix operator+(const FieldMatrix& other) const {
    FieldMatrix sum;
    for (size_t i = 0; i < 4; ++i) sum.entries[i] = entries[i] + other.entries[i];
    return sum;
  }
  // The matrix product.
  constexpr FieldMatrix operator*(const FieldMatrix& other) const {
    const auto& a = entries;
    const auto& b = other.entries;
    return {{a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
             a[2] * b[1] + a[3] * b[3]}};
  }
  // Entry by entry.
  constexpr FieldMatrix times_each(const FieldMatrix& other) const {
    FieldMatrix product;
    for (size_t i = 0; i < 4; ++i) product.entries[i] = entries[i] * other.entries[i];
    return product;
  }

  auto operator<=>(const FieldMatrix&) const = default;
};

}  // namespace interlock
