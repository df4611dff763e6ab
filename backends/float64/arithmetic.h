// Arithmetic: float32 as a device may do it, followed in float64. The basic idea is running error
// analysis (N. Higham, "Accuracy and Stability of Numerical Algorithms", section 3.3): beside each
// exact value stands a bound on how far a float32 evaluation may be off, and each operation gives
// both of its result. docs/numbers.md derives the rules.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/interface/backend.h"

namespace interlock {

// The value of an expression, and a bound on the error of its float32 evaluation. An infinity or a
// NaN without error is what every evaluation gives.
struct Rounded {
  double value = 0;
  double error = 0;  // Infinite: the evaluation may give anything.

  bool is_known() const { return error < std::numeric_limits<double>::infinity(); }
};

inline constexpr double kUnitRoundoff = 0x1p-24;  // u, half an ulp of 1.

// What a device promises of an operation. Additions and multiplications are correctly rounded to
// nearest on every one.
struct Arithmetic {
  double division_ulp = 0.5;
  double square_root_ulp = 0.5;
  bool flushes_subnormals = false;  // May take a subnormal operand or result for zero.
  bool keeps_specials = true;       // Infinities and NaNs behave as IEEE 754 says.

  // An input.
  Rounded load(double value) const;

  Rounded add(Rounded a, Rounded b) const;
  Rounded subtract(Rounded a, Rounded b) const { return add(a, {-b.value, b.error}); }
  Rounded multiply(Rounded a, Rounded b) const;
  Rounded divide(Rounded a, Rounded b) const;

  // Requires: the float32 evaluation of `a` is not negative; NaN is fine.
  Rounded square_root(Rounded a) const;

  // e^a by our own function: within 2 ulp, 1 of 0, and 0 where the result would be subnormal.
  Rounded exponential(Rounded a) const;

  // ln a by our own function: within 2 ulp, and exact at 1.
  // Requires: the float32 evaluation of `a` is not negative; NaN is fine.
  Rounded logarithm(Rounded a) const;

  // By our own functions: within 2^-23, and exact at 0.
  // Requires: the float32 evaluation of `a` is in [0, 2^17].
  Rounded sine(Rounded a) const;
  Rounded cosine(Rounded a) const;

  // Of an operation with the exact result `value` on the exact operands, which differs by at most
  // `propagated` on those that the evaluation has, and is rounded to `ulp`.
  Rounded rounded(double value, double propagated, double ulp) const;

  // How far a result may be off by underflow alone.
  double underflow() const;
};

// Devices that divide and take roots correctly rounded: the CPU, CUDA, lavapipe.
inline constexpr Arithmetic kIeeeArithmetic;

// What Vulkan 1.3 asks of a device (appendix A, "Precision of Core SPIR-V Instructions"). It
// derives the square root from 1 / inversesqrt, of 2.5 and 2 ulp.
inline constexpr Arithmetic kVulkanArithmetic{2.5, 4.5, true, false};

// What is promised of the device.
Arithmetic arithmetic_of(const Capabilities& capabilities);

// A sum of float32 additions in any order in which no term passes through more than `depth` of
// them that round.
class RoundedSum {
 public:
  explicit RoundedSum(const Arithmetic& arithmetic) : arithmetic_(arithmetic) {}

  void add(Rounded term);
  Rounded total(uint64_t depth) const;

 private:
  Arithmetic arithmetic_;
  uint64_t count_ = 0;
  // Of the finite terms.
  double sum_ = 0;
  double error_ = 0;
  double positive_max_ = 0;  // No evaluation has a larger sum of positive ones.
  double negative_max_ = 0;  // Likewise, without its sign.
  double special_ = 0;       // Sum of the infinities and NaNs.
  bool is_known_ = true;
};

// The depth of a sum of `count` terms from first to last.
uint64_t chain_depth(uint64_t count);

// The depth of a sum over a row: 32 partial sums of every 32nd term, then a tree that adds them.
uint64_t row_depth(uint64_t count);

}  // namespace interlock
