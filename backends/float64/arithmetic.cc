// float64 rounds as well, 2^-29 as much: kRound has room for it. Results that may overflow are
// unknown, unless they overflow in every evaluation.
#include "backends/float64/arithmetic.h"

#include <algorithm>
#include <cmath>

namespace interlock {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kRound = kUnitRoundoff * (1 + 0x1p-20);
constexpr double kSmallestNormal = 0x1p-126;
constexpr double kHalfOfSmallestSubnormal = 0x1p-150;
constexpr double kOverflow = 0x1p128 - 0x1p103;  // The least that rounds to infinity.
constexpr double kDivisorMax = 0x1p126;          // Of a division whose precision Vulkan states.
constexpr double kExponentMax = 88.72283f;       // Beyond it, our exponential is infinite.
constexpr double kExponentMin = -87.33654f;      // Below it, zero.

constexpr double kSineError = 0x1p-23;

constexpr Rounded kUnknown{0, kInfinity};

// Every evaluation has this sign; and it is zero in all or in none.
bool is_sure(Rounded a) { return a.error == 0 || std::fabs(a.value) > a.error; }
bool is_exactly_zero(Rounded a) { return a.value == 0 && a.error == 0; }

// A correctly rounded product or quotient with one is exact, but for underflow.
bool is_power_of_two(Rounded a) {
  int exponent = 0;
  return a.error == 0 && std::fabs(std::frexp(a.value, &exponent)) == 0.5;
}

}  // namespace

double Arithmetic::underflow() const {
  return flushes_subnormals ? kSmallestNormal : kHalfOfSmallestSubnormal;
}

// An ulp is at most 2 u |value|.
Rounded Arithmetic::rounded(double value, double propagated, double ulp) const {
  if (!(propagated < kInfinity)) return kUnknown;
  if (!std::isfinite(value)) return keeps_specials ? Rounded{value, 0} : kUnknown;
  if (value == 0 && propagated == 0) return {value, 0};
  double error = propagated + 2 * ulp * kRound * (std::fabs(value) + propagated);
  if (std::fabs(value) - error < kSmallestNormal) error += underflow();
  // Rounding to nearest overflows iff the value does; the slack is float64's own rounding.
  const double reach = ulp > 0.5 ? error : propagated + 0x1p-50 * std::fabs(value);
  if (std::fabs(value) + reach < kOverflow) return {value, error};
  const bool overflows = keeps_specials && std::fabs(value) - reach >= kOverflow;
  return overflows ? Rounded{std::copysign(kInfinity, value), 0} : kUnknown;
}

Rounded Arithmetic::load(double value) const {
  if (!std::isfinite(value)) return keeps_specials ? Rounded{value, 0} : kUnknown;
  const bool is_flushed = flushes_subnormals && std::fabs(value) < kSmallestNormal;
  return {value, is_flushed ? std::fabs(value) : 0};
}

Rounded Arithmetic::add(Rounded a, Rounded b) const {
  if (!a.is_known() || !b.is_known()) return kUnknown;
  const bool is_exact = is_exactly_zero(a) || is_exactly_zero(b);
  return rounded(a.value + b.value, a.error + b.error, is_exact ? 0 : 0.5);
}

Rounded Arithmetic::multiply(Rounded a, Rounded b) const {
  if (!a.is_known() || !b.is_known()) return kUnknown;
  const double value = a.value * b.value;
  if (std::isfinite(a.value) && std::isfinite(b.value)) {
    const double propagated =
        std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
    return rounded(value, propagated, is_power_of_two(a) || is_power_of_two(b) ? 0 : 0.5);
  }
  if (std::isnan(a.value) || std::isnan(b.value)) return rounded(kNan, 0, 0.5);
  // An infinity times what may be zero or of either sign may be anything.
  return is_sure(a) && is_sure(b) ? rounded(value, 0, 0.5) : kUnknown;
}

Rounded Arithmetic::divide(Rounded a, Rounded b) const {
  if (!a.is_known() || !b.is_known()) return kUnknown;
  if (std::isnan(a.value) || std::isnan(b.value)) return rounded(kNan, 0, 0.5);
  if (!is_sure(b)) return kUnknown;
  if (std::isinf(a.value) || std::isinf(b.value) || is_exactly_zero(b)) {
    if (is_exactly_zero(b) && !is_sure(a)) return kUnknown;
    return keeps_specials ? rounded(a.value / b.value, 0, 0.5) : kUnknown;
  }
  const double divisor = std::fabs(b.value);
  const bool is_precise = divisor - b.error >= kSmallestNormal && divisor + b.error <= kDivisorMax;
  if (!is_precise && division_ulp > 0.5) return kUnknown;
  const double value = a.value / b.value;
  // |(a + da) / (b + db) - a / b| <= (|da| + |a / b| |db|) / (|b| - |db|).
  const bool is_exact = division_ulp == 0.5 && is_power_of_two(b);
  return rounded(value, (a.error + std::fabs(value) * b.error) / (divisor - b.error),
                 is_exact ? 0 : division_ulp);
}

Rounded Arithmetic::square_root(Rounded a) const {
  if (!a.is_known()) return kUnknown;
  const double value = std::sqrt(a.value);
  if (!std::isfinite(value)) return rounded(value, 0, square_root_ulp);
  const double least = std::sqrt(std::max(0.0, a.value - a.error));
  const bool is_precise = least > 0 || is_exactly_zero(a);
  if (square_root_ulp > 0.5 && (!is_precise || a.value == 0)) return kUnknown;
  return rounded(value, std::max(value - least, std::sqrt(a.value + a.error) - value),
                 square_root_ulp);
}

Rounded Arithmetic::exponential(Rounded a) const {
  if (!a.is_known()) return kUnknown;
  if (!std::isfinite(a.value)) return rounded(std::exp(a.value), 0, 2);
  if (is_exactly_zero(a)) return {1, 0};
  if (a.value + a.error < kExponentMin) return {0, 0};
  if (a.value + a.error > kExponentMax) {
    return a.value - a.error > kExponentMax ? rounded(kInfinity, 0, 2) : kUnknown;
  }
  const double value = std::exp(a.value);
  Rounded result = rounded(value, std::exp(a.value + a.error) - value, 2);
  if (value - result.error < kSmallestNormal) result.error += kSmallestNormal;
  return result;
}

Rounded Arithmetic::logarithm(Rounded a) const {
  if (!a.is_known()) return kUnknown;
  const double value = std::log(a.value);
  if (!std::isfinite(value)) return a.error == 0 ? rounded(value, 0, 2) : kUnknown;
  const double least = a.value - a.error;
  if (least <= 0) return kUnknown;
  return rounded(value, std::max(value - std::log(least), std::log(a.value + a.error) - value), 2);
}

// No slope of either is steeper than 1.
Rounded Arithmetic::sine(Rounded a) const {
  if (!a.is_known()) return kUnknown;
  if (is_exactly_zero(a)) return {0, 0};
  return {std::sin(a.value), a.error + kSineError};
}

Rounded Arithmetic::cosine(Rounded a) const {
  if (!a.is_known()) return kUnknown;
  if (is_exactly_zero(a)) return {1, 0};
  return {std::cos(a.value), a.error + kSineError};
}

Arithmetic arithmetic_of(const Capabilities& capabilities) {
  return capabilities.rounds_correctly ? kIeeeArithmetic : kVulkanArithmetic;
}

void RoundedSum::add(Rounded term) {
  ++count_;
  if (!term.is_known()) {
    is_known_ = false;
  } else if (!std::isfinite(term.value)) {
    special_ += term.value;
  } else {
    sum_ += term.value;
    error_ += term.error;
    positive_max_ += std::max(0.0, term.value + term.error);
    negative_max_ += std::max(0.0, term.error - term.value);
  }
}

// gamma_d = d u / (1 - d u) bounds the relative error of d roundings (Higham, lemma 3.1).
Rounded RoundedSum::total(uint64_t depth) const {
  const double roundings = static_cast<double>(depth) * kRound;
  const double gamma = roundings / (1 - roundings);
  if (!is_known_ || (!std::isfinite(special_) && !arithmetic_.keeps_specials)) return kUnknown;
  if (std::isnan(special_)) return {special_, 0};
  if (std::isinf(special_)) {
    // Sure, unless finite terms overflow to the other infinity.
    const double opposite = special_ > 0 ? negative_max_ : positive_max_;
    return opposite * (1 + gamma) < kOverflow ? Rounded{special_, 0} : kUnknown;
  }
  const double magnitude = positive_max_ + negative_max_;
  if (magnitude * (1 + gamma) >= kOverflow) {
    // Terms of one sign never come back.
    const bool has_one_sign = positive_max_ == 0 || negative_max_ == 0;
    const double least = (std::fabs(sum_) - error_) * (1 - gamma);
    return arithmetic_.keeps_specials && has_one_sign && least >= kOverflow
               ? Rounded{std::copysign(kInfinity, sum_), 0}
               : kUnknown;
  }
  double error = error_ + gamma * magnitude;
  if (arithmetic_.flushes_subnormals && magnitude > 0) {
    error += static_cast<double>(count_) * kSmallestNormal;  // Each addition may flush its result.
  }
  return {sum_, error};
}

uint64_t chain_depth(uint64_t count) { return count == 0 ? 0 : count - 1; }

// The first addition, to zero, is exact, and so is each one of an absent partial sum.
uint64_t row_depth(uint64_t count) {
  constexpr uint64_t kPartialSums = 32;
  uint64_t levels = 0;
  while ((uint64_t{1} << levels) < std::min(count, kPartialSums)) ++levels;
  return chain_depth((count + kPartialSums - 1) / kPartialSums) + levels;
}

}  // namespace interlock
