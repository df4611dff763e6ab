// The arithmetic of the oracles against float32 itself: on exact operands of any bits, on operands
// that are off by their errors, and with subnormals flushed.
#include "backends/float64/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace interlock::float64_arithmetic_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

float f32_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

const std::vector<float>& special_values() {
  static const std::vector<float> values = {
      0.0f,          -0.0f,          1.0f,    -1.0f,     2.0f,      -3.0f,   kInfinity, -kInfinity,
      kNan,          1e-45f,         -1e-45f, 1.1e-38f,  1.18e-38f, 1e-20f,  1e20f,     -1e20f,
      3.4028235e38f, -3.4028235e38f, 1.7e38f, 0x1p-126f, 0x1p126f,  0x1p127f};
  return values;
}

// Any bits, magnitudes in the middle, and special values.
float any_float(std::mt19937& generator) {
  const auto random = static_cast<uint32_t>(generator());
  switch (random % 4) {
    case 0:
      return special_values()[random / 4 % special_values().size()];
    case 1:
      return f32_of(static_cast<uint32_t>(generator()));
    default:
      return static_cast<float>(static_cast<int32_t>(generator())) *
             std::ldexp(1.0f, static_cast<int>(random / 4 % 64) - 48);
  }
}

float flushed(float value, const Arithmetic& arithmetic) {
  const bool is_subnormal = value != 0 && std::fabs(value) < 0x1p-126f;
  return arithmetic.flushes_subnormals && is_subnormal ? 0.0f * value : value;
}

void expect_allows(const Rounded& oracle, float value) {
  if (!oracle.is_known()) return;
  if (std::isnan(oracle.value)) {
    EXPECT_TRUE(std::isnan(value)) << value;
  } else {
    EXPECT_TRUE(double{value} == oracle.value ||
                std::fabs(double{value} - oracle.value) <= oracle.error)
        << value << " is not within " << oracle.error << " of " << oracle.value;
  }
}

enum class Operation { kAdd, kSubtract, kMultiply, kDivide };
constexpr Operation kOperations[] = {Operation::kAdd, Operation::kSubtract, Operation::kMultiply,
                                     Operation::kDivide};

float evaluated(Operation operation, float a, float b) {
  switch (operation) {
    case Operation::kAdd:
      return a + b;
    case Operation::kSubtract:
      return a - b;
    case Operation::kMultiply:
      return a * b;
    case Operation::kDivide:
      return a / b;
  }
  return 0;
}

Rounded followed(const Arithmetic& arithmetic, Operation operation, Rounded a, Rounded b) {
  switch (operation) {
    case Operation::kAdd:
      return arithmetic.add(a, b);
    case Operation::kSubtract:
      return arithmetic.subtract(a, b);
    case Operation::kMultiply:
      return arithmetic.multiply(a, b);
    case Operation::kDivide:
      return arithmetic.divide(a, b);
  }
  return {};
}

constexpr Arithmetic kFlushing{0.5, 0.5, true, true};
constexpr Arithmetic kSloppy{2.5, 4.5, true, true};  // As Vulkan allows, but keeps specials.

// The quotient as far off as the device may be: two floats away from the nearest one.
float sloppy(float quotient, const Arithmetic& arithmetic, std::mt19937& generator) {
  const float size = std::fabs(quotient);
  if (arithmetic.division_ulp == 0.5 || !(size > 1e-37f && size < 3e38f)) return quotient;
  const float towards = generator() % 2 == 0 ? kInfinity : -kInfinity;
  return std::nextafter(std::nextafter(quotient, towards), towards);
}

TEST(Arithmetic, BoundsEveryOperationOnExactOperands) {
  for (const float a : special_values()) {
    for (const float b : special_values()) {
      for (const Operation operation : kOperations) {
        SCOPED_TRACE(testing::Message() << a << " op" << static_cast<int>(operation) << " " << b);
        const Rounded oracle =
            followed(kIeeeArithmetic, operation, kIeeeArithmetic.load(a), kIeeeArithmetic.load(b));
        EXPECT_TRUE(oracle.is_known());  // IEEE 754 leaves nothing open.
        expect_allows(oracle, evaluated(operation, a, b));
      }
    }
  }
}

// Chains of operations: errors of one are operands of the next, in all magnitudes.
TEST(Arithmetic, BoundsExpressionsOfAnyMagnitude) {
  std::mt19937 generator(1);
  uint64_t known_count = 0;
  constexpr uint64_t kExpressionCount = 40'000;
  for (const Arithmetic& arithmetic : {kIeeeArithmetic, kFlushing, kSloppy}) {
    for (uint64_t i = 0; i < kExpressionCount; ++i) {
      const float first = any_float(generator);
      Rounded oracle = arithmetic.load(first);
      float value = flushed(first, arithmetic);
      for (int step = 0; step < 4; ++step) {
        const Operation operation = kOperations[generator() % 4];
        const float operand = any_float(generator);
        const bool is_left = generator() % 2 == 0;
        const Rounded other = arithmetic.load(operand);
        const float b = flushed(operand, arithmetic);
        oracle = is_left ? followed(arithmetic, operation, other, oracle)
                         : followed(arithmetic, operation, oracle, other);
        value = is_left ? evaluated(operation, b, value) : evaluated(operation, value, b);
        if (operation == Operation::kDivide) value = sloppy(value, arithmetic, generator);
        value = flushed(value, arithmetic);
        expect_allows(oracle, value);
      }
      known_count += oracle.is_known() ? 1 : 0;
    }
  }
  EXPECT_GT(known_count, kExpressionCount);  // Of three times as many.
}

TEST(Arithmetic, BoundsElementaryFunctions) {
  std::mt19937 generator(2);
  for (int i = 0; i < 20'000; ++i) {
    const float a = any_float(generator);
    const float b = any_float(generator);
    const Rounded quotient =
        kIeeeArithmetic.divide(kIeeeArithmetic.load(a), kIeeeArithmetic.load(b));
    if (!(quotient.value < 0)) {
      SCOPED_TRACE(testing::Message() << "sqrt of " << a << " / " << b);
      expect_allows(kIeeeArithmetic.square_root(quotient), std::sqrt(a / b));
    }
    const double exponential = std::exp(double{a / b});
    if (exponential > 0x1p-126 && exponential < 0x1p127) {
      expect_allows(kIeeeArithmetic.exponential(quotient), static_cast<float>(exponential));
    }
    if (!(quotient.value < 0)) {
      const auto logarithm = static_cast<float>(std::log(double{a / b}));
      expect_allows(kIeeeArithmetic.logarithm(quotient), logarithm);
    }
    if (quotient.value >= 0 && quotient.value <= 0x1p17) {
      const double angle = a / b;
      expect_allows(kIeeeArithmetic.sine(quotient), static_cast<float>(std::sin(angle)));
      expect_allows(kIeeeArithmetic.cosine(quotient), static_cast<float>(std::cos(angle)));
    }
  }
}

// Both shapes that kernels add in, and depths of theirs.
TEST(RoundedSum, BoundsChainsAndRows) {
  std::mt19937 generator(3);
  for (int i = 0; i < 3000; ++i) {
    const uint64_t count = 1 + generator() % 200;
    RoundedSum sum(kIeeeArithmetic);
    float chain = 0;
    float partial[32] = {};
    const bool is_wild = generator() % 8 == 0;
    for (uint64_t k = 0; k < count; ++k) {
      const float term =
          is_wild ? any_float(generator) : static_cast<float>(static_cast<int32_t>(generator()));
      sum.add(kIeeeArithmetic.load(term));
      chain += term;
      partial[k % 32] += term;
    }
    for (int stride = 16; stride > 0; stride /= 2) {
      for (int p = 0; p < stride; ++p) partial[p] += partial[p + stride];
    }
    expect_allows(sum.total(chain_depth(count)), chain);
    expect_allows(sum.total(row_depth(count)), partial[0]);
  }
}

TEST(RoundedSum, CountsTheAdditionsThatRound) {
  EXPECT_EQ(chain_depth(1), 0u);
  EXPECT_EQ(chain_depth(50), 49u);
  EXPECT_EQ(row_depth(1), 0u);
  EXPECT_EQ(row_depth(2), 1u);
  EXPECT_EQ(row_depth(16), 4u);
  EXPECT_EQ(row_depth(17), 5u);
  EXPECT_EQ(row_depth(32), 5u);
  EXPECT_EQ(row_depth(33), 6u);
  EXPECT_EQ(row_depth(65), 7u);
}

TEST(RoundedSum, KnowsWhenASumIsInfinite) {
  const auto total_of = [](const std::vector<double>& terms) {
    RoundedSum sum(kIeeeArithmetic);
    for (const double term : terms) sum.add({term, 0});
    return sum.total(chain_depth(terms.size()));
  };
  EXPECT_EQ(total_of({3e38, 3e38}).value, kInfinity);
  EXPECT_TRUE(total_of({3e38, 3e38}).is_known());
  EXPECT_FALSE(total_of({3e38, 3e38, -3e38}).is_known());  // It depends on the order.
  EXPECT_TRUE(total_of({kInfinity, 3e38, 3e38}).is_known());
  EXPECT_FALSE(total_of({kInfinity, -3e38, -3e38}).is_known());
  EXPECT_TRUE(std::isnan(total_of({kInfinity, -kInfinity}).value));
  EXPECT_TRUE(std::isnan(total_of({kNan, 1, 3e38}).value));
}

// What Vulkan leaves open, the oracle leaves open.
TEST(VulkanArithmetic, AllowsWhatVulkanAllows) {
  const Rounded third = kVulkanArithmetic.divide({1, 0}, {3, 0});
  EXPECT_NEAR(third.error, 2.5 * 0x1p-23 / 3, 1e-12);
  EXPECT_NEAR(kVulkanArithmetic.square_root({2, 0}).error, 4.5 * 0x1p-23 * std::sqrt(2.0), 1e-12);
  EXPECT_FALSE(kVulkanArithmetic.divide({1, 0}, {0x1p127, 0}).is_known());
  EXPECT_FALSE(kVulkanArithmetic.divide({1, 0}, {0, 0}).is_known());
  EXPECT_FALSE(kVulkanArithmetic.load(kInfinity).is_known());
  EXPECT_EQ(kVulkanArithmetic.load(1e-40).error, 1e-40);
  EXPECT_GE(kVulkanArithmetic.add({1e-38, 0}, {-2e-38, 0}).error, 1e-38);
}

}  // namespace
}  // namespace interlock::float64_arithmetic_test
