// float64 rounds as well, 2^-29 as much: kRound has room for it. Results that may overflow are
// unknown, unless they overflow in every evaluation.
#include "backends/float64/arithmetic.h"

#include <algorithm>
#include <cmath>

namespace interlock {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRound = kUnitRoundoff * (1 + 0x1p-20);
constexpr double kSmallestNormal = 0x1p-126;
constexpr double kHalfOfSmallestSubnormal = 0x1p-150;
constexpr double kOverflow = 0x1p128 - 0x1p103;  // The least that rounds to infinity.
constexpr double kDivisorMax = 0x1p126;          // Of a division whose precision Vulkan states.
constexpr double kExponentMax = 88.72283f;       // Beyond it, our exp is infinite.

constexpr Rounded kUnknown{0, kInfinity};

// |value| > error: the evaluation has this sign and is not zero.
bool has_sure_sign(Rounded a) { return std::fabs(a.value) > a.error; }
bool is_exactly_zero(Rounded a) { return a.value == 0 && a.error == 0; }

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
  if (std::fabs(value) + error < kOverflow) return {value, error};
  const bool overflows = keeps_specials && std::fabs(value) - error >= kOverflow;
  return overflows ? Rounded{std::copysign(kInfinity, value), 0} : kUnknown;
}

Rounded Arithmetic::load(double value) const {
  if (!std::isfinite(value)) return keeps_specials ? Rounded{value, 0} : kUnknown;
  const bool is_flushed = flushes_subnormals && std::fabs(value) < kSmallestNormal;
  return {value, is_flushed ? std::fabs(value) : 0};
}

Rounded Arithmetic::add(Rounded a, Rounded b) const {
  if (!a.is_known() || !b.is_known()) return kUnknown;
  return rounded(a.value + b.value, a.error + b.error, 0.5);
}

Rounded Arithmetic::multiply(Rounded a, Rounded b) const {
  if (!a.is_known() || !b.is_known()) return kUnknown;
  const double value = a.value * b.value;
  if (std::isfinite(a.value) && std::isfinite(b.value)) {
    const double propagated =
        std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
    return rounded(value, propagated, 0.5);
  }
  // An infinity times what may be zero or of either sign may be anything.
  const auto is_sure = [](Rounded factor) { return factor.error == 0 || has_sure_sign(factor); };
  return is_sure(a) && is_sure(b) ? rounded(value, 0, 0.5) : kUnknown;
}

Rounded Arithmetic::divide(Rounded a, Rounded b) const {
  if (!a.is_known() || !b.is_known()) return kUnknown;
  if (!has_sure_sign(b) && !is_exactly_zero(b) && !std::isnan(b.value)) return kUnknown;
  if (std::isinf(a.value) || !std::isfinite(b.value) || is_exactly_zero(b)) {
    if (is_exactly_zero(b) && !is_exactly_zero(a) && !has_sure_sign(a)) return kUnknown;
    return keeps_specials ? rounded(a.value / b.value, 0, 0.5) : kUnknown;
  }
  const double divisor = std::fabs(b.value);
  const bool is_precise = divisor - b.error >= kSmallestNormal && divisor + b.error <= kDivisorMax;
  if (!is_precise && division_ulp > 0.5) return kUnknown;
  const double value = a.value / b.value;
  // |(a + da) / (b + db) - a / b| <= (|da| + |a / b| |db|) / (|b| - |db|).
  return rounded(value, (a.error + std::fabs(value) * b.error) / (divisor - b.error), division_ulp);
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
  if (a.value + a.error > kExponentMax) {
    return a.value - a.error > kExponentMax ? rounded(kInfinity, 0, 2) : kUnknown;
  }
  const double value = std::exp(a.value);
  Rounded result = rounded(value, value * std::expm1(a.error), 2);
  if (value - result.error < kSmallestNormal) result.error += kSmallestNormal;
  return result;
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
    magnitude_ += std::fabs(term.value) + term.error;
    propagated_ += term.error;
  }
}

// gamma_d = d u / (1 - d u) bounds the relative error of d roundings (Higham, lemma 3.1). A term
// that is an infinity decides the sum, unless finite ones overflow to the other infinity.
Rounded RoundedSum::total(uint64_t depth) const {
  const double roundings = static_cast<double>(depth) * kRound;
  const double gamma = roundings / (1 - roundings);
  const double largest = magnitude_ * (1 + gamma);
  if (!is_known_) return kUnknown;
  if (!std::isfinite(special_)) {
    const bool is_sure = std::isnan(special_) || largest < kOverflow;
    return is_sure && arithmetic_.keeps_specials ? Rounded{special_, 0} : kUnknown;
  }
  if (largest >= kOverflow) {
    // Terms of one sign never come back.
    const bool has_one_sign = std::fabs(sum_) + propagated_ >= magnitude_ * (1 - 0x1p-30);
    const double least = (std::fabs(sum_) - propagated_) * (1 - gamma);
    return arithmetic_.keeps_specials && has_one_sign && least >= kOverflow
               ? Rounded{std::copysign(kInfinity, sum_), 0}
               : kUnknown;
  }
  double error = propagated_ + gamma * magnitude_;
  if (arithmetic_.flushes_subnormals && magnitude_ > 0) {
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
