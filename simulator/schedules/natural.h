// Natural: a natural number of any size, because traces are counted by products that soon exceed 64
// bits. Only what counting needs.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

class Natural {
 public:
  Natural() = default;  // Zero.
  explicit Natural(uint64_t value);

  Natural& operator+=(const Natural& other);
  Natural& operator-=(const Natural& other);  // Requires: other <= *this.
  Natural& operator*=(const Natural& other);
  Natural& operator/=(uint32_t divisor);  // Rounds down. Requires: 0 < divisor < 10^9.

  std::strong_ordering operator<=>(const Natural& other) const;
  bool operator==(const Natural&) const = default;

  // All digits, in decimal; from 40 of them on the first six: "1.20892e+45".
  std::string text() const;

 private:
  static constexpr uint64_t kBase = 1'000'000'000;  // Of a limb: printing then needs no division.

  void trim();

  std::vector<uint32_t> limbs_;  // The lowest first; the highest is not zero.
};

// "1 trace", "12 traces".
std::string counted(const Natural& count, std::string_view one, std::string_view many);

}  // namespace interlock
