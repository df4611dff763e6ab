// School arithmetic in base 10^9.
#include "simulator/schedules/natural.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encoder/program/check.h"

namespace interlock {

Natural::Natural(uint64_t value) {
  for (; value > 0; value /= kBase) limbs_.push_back(static_cast<uint32_t>(value % kBase));
}

void Natural::trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}

Natural& Natural::operator+=(const Natural& other) {
  limbs_.resize(std::max(limbs_.size(), other.limbs_.size()) + 1);
  uint64_t carry = 0;
  for (size_t i = 0; i < limbs_.size(); ++i) {
    carry += uint64_t{limbs_[i]} + (i < other.limbs_.size() ? other.limbs_[i] : 0);
    limbs_[i] = static_cast<uint32_t>(carry % kBase);
    carry /= kBase;
  }
  trim();
  return *this;
}

Natural& Natural::operator-=(const Natural& other) {
  INTERLOCK_CHECK(other <= *this);
  uint64_t borrow = 0;
  for (size_t i = 0; i < limbs_.size(); ++i) {
    const uint64_t taken = borrow + (i < other.limbs_.size() ? other.limbs_[i] : 0);
    borrow = limbs_[i] < taken ? 1 : 0;
    limbs_[i] = static_cast<uint32_t>(limbs_[i] + borrow * kBase - taken);
  }
  trim();
  return *this;
}

Natural& Natural::operator*=(const Natural& other) {
  std::vector<uint32_t> product(limbs_.size() + other.limbs_.size(), 0);
  for (size_t i = 0; i < limbs_.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < other.limbs_.size() || carry > 0; ++j) {
      carry += product[i + j];
      if (j < other.limbs_.size()) carry += uint64_t{limbs_[i]} * other.limbs_[j];
      product[i + j] = static_cast<uint32_t>(carry % kBase);
      carry /= kBase;
    }
  }
  limbs_ = std::move(product);
  trim();
  return *this;
}

Natural& Natural::operator/=(uint32_t divisor) {
  INTERLOCK_CHECK(divisor > 0 && divisor < kBase);
  uint64_t rest = 0;
  for (size_t i = limbs_.size(); i > 0; --i) {
    rest = rest * kBase + limbs_[i - 1];
    limbs_[i - 1] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  trim();
  return *this;
}

std::strong_ordering Natural::operator<=>(const Natural& other) const {
  if (limbs_.size() != other.limbs_.size()) return limbs_.size() <=> other.limbs_.size();
  for (size_t i = limbs_.size(); i > 0; --i) {
    if (limbs_[i - 1] != other.limbs_[i - 1]) return limbs_[i - 1] <=> other.limbs_[i - 1];
  }
  return std::strong_ordering::equal;
}

std::string Natural::text() const {
  if (limbs_.empty()) return "0";
  std::string digits = fmt::format("{}", limbs_.back());
  for (size_t i = limbs_.size() - 1; i > 0; --i) digits += fmt::format("{:09}", limbs_[i - 1]);
  if (digits.size() < 40) return digits;
  return fmt::format("{}.{}e+{}", digits.substr(0, 1), digits.substr(1, 5), digits.size() - 1);
}

std::string counted(const Natural& count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count.text(), count == Natural(1) ? one : many);
}

}  // namespace interlock
