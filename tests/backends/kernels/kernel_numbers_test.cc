// Every kernel against its float64 oracle, within derived bounds; and its gradients against the
// definition of a gradient.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "backends/float64/kernel_oracles.h"
#include "backends/kernels/elementary.h"
#include "backends/reference/oracle_check.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"

namespace interlock::kernel_numbers_test {
namespace {

struct Evaluated {
  std::vector<Doubles> inputs;
  std::vector<Doubles> outputs;  // Of the kernel.
  std::vector<OracleTensor> oracles;
};

Evaluated evaluate(const KernelCase& c) {
  const Program program = program_of(c);
  const MemoryImage before = initial_image(program, kExecutionLimitBytes).value();
  const MemoryImage after = image_after(program, reference_order_schedule(program));
  Evaluated evaluated;
  for (const CaseOperand& operand : operands_of(c)) {
    const auto values = [&](const MemoryImage& image) {
      return numbers_of(program, image, operand.name);
    };
    if (operand.is_input()) evaluated.inputs.push_back(values(before));
    if (operand.is_output) evaluated.outputs.push_back(values(after));
  }
  evaluated.oracles = find_kernel_oracle(c.kernel)(
      {evaluated.inputs, oracle_shape_of(c), oracle_attributes_of(c), kIeeeArithmetic});
  return evaluated;
}

bool is_bytewise(const KernelCase& c) { return c.kernel == "fill" || c.kernel == "copy"; }

TEST(Kernels, AgreeWithTheirOracles) {
  for (const KernelCase& c : all_cases()) {
    const Program program = program_of(c);
    const auto check = check_against_oracle(
        program, DispatchId{0}, initial_image(program, kExecutionLimitBytes).value(),
        image_after(program, reference_order_schedule(program)), kIeeeArithmetic);
    ASSERT_TRUE(check.has_value());
    EXPECT_FALSE(check->mismatch.has_value()) << c << "\n" << check->mismatch->message;
    EXPECT_EQ(check->unbounded_count, 0u) << c;
  }
}

// A bound that would let a wrong kernel pass is no test: all are below a thousandth of the largest
// output, except where the layer norm of one column divides zero by sqrt(eps).
TEST(Kernels, HaveTightOracleBounds) {
  for (const KernelCase& c : all_cases()) {
    if (is_bytewise(c) || c.cols == 1) {
      continue;
    }
    SCOPED_TRACE(testing::PrintToString(c));
    for (const OracleTensor& tensor : evaluate(c).oracles) {
      double largest = 0;
      double bound = 0;
      for (const Rounded& v : tensor) {
        largest = std::max(largest, std::fabs(v.value));
        bound = std::max(bound, v.error);
      }
      EXPECT_LT(bound, 1e-3 * largest);
    }
  }
}

TEST(Kernels, FillAndCopyBytes) {
  for (const KernelCase& c : all_cases()) {
    if (!is_bytewise(c)) {
      continue;
    }
    const Program program = program_of(c);
    const MemoryImage image = image_after(program, reference_order_schedule(program));
    const std::vector<uint8_t> y = bytes_of(program, image, "y");
    if (c.kernel == "copy") {
      EXPECT_EQ(y, bytes_of(program, image, "x"));
    } else {
      EXPECT_EQ(y, std::vector<uint8_t>(y.size(), kCaseByte));
    }
  }
}

TEST(Kernels, CopyAnyBytesToAnyAlignment) {
  const Program program = parsed(R"(interlock 1
memory a 5000
memory b 5000
dispatch copy reads a[3:4100] writes b[1:4098]
)");
  const MemoryImage before = initial_image(program, kExecutionLimitBytes).value();
  const MemoryImage after = image_after(program, reference_order_schedule(program));
  MemoryImage expected = before;
  std::copy_n(before.memories[0].begin() + 3, 4097, expected.memories[1].begin() + 1);
  EXPECT_EQ(after, expected);
}

TEST(ExpF32, IsWithinTwoUlpWhereNormal) {
  for (int i = -87 * 4096; i < 88 * 4096; ++i) {
    const float x = static_cast<float>(i) / 4096 + 0.00001f;
    const double right = std::exp(double{x});
    ASSERT_LE(std::fabs(exp_f32(x) - right), 2 * 0x1p-23 * right) << x;
  }
  EXPECT_EQ(exp_f32(0), 1);
  EXPECT_EQ(exp_f32(-200), 0);
  EXPECT_EQ(exp_f32(200), INFINITY);
  EXPECT_EQ(exp_f32(-INFINITY), 0);
  EXPECT_TRUE(std::isnan(exp_f32(NAN)));
}

// Every 997th float, of all that there are; and all around 1, where the result is small.
TEST(LogF32, IsWithinTwoUlp) {
  const auto expect_close = [](uint32_t bits) {
    const float x = f32_of_bits(bits);
    const double right = std::log(double{x});
    ASSERT_LE(std::fabs(log_f32(x) - right), 2 * 0x1p-23 * std::fabs(right)) << x;
  };
  for (uint32_t bits = 1; bits < 0x7f800000u; bits += 997 * (is_slow_build() ? 64 : 1)) {
    expect_close(bits);
  }
  for (uint32_t bits = 0x3f800000u - 4096; bits < 0x3f800000u + 4096; ++bits) expect_close(bits);
  EXPECT_EQ(log_f32(1), 0);
  EXPECT_EQ(log_f32(0), -INFINITY);
  EXPECT_EQ(log_f32(-0.0f), -INFINITY);
  EXPECT_EQ(log_f32(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(log_f32(-1)));
  EXPECT_TRUE(std::isnan(log_f32(-INFINITY)));
  EXPECT_TRUE(std::isnan(log_f32(NAN)));
}

// Every 997th float from 0 to 2^17, and those next to multiples of pi / 4, where quadrants meet.
TEST(SineCosineF32, IsWithinItsBound) {
  const auto expect_close = [](float x) {
    const SineCosine found = sine_cosine_f32(x);
    ASSERT_LE(std::fabs(found.sine - std::sin(double{x})), 0x1p-23) << x;
    ASSERT_LE(std::fabs(found.cosine - std::cos(double{x})), 0x1p-23) << x;
  };
  const uint32_t last = bits_of_f32(131072.0f);
  for (uint32_t bits = 0; bits < last; bits += 997 * (is_slow_build() ? 64 : 1)) {
    expect_close(f32_of_bits(bits));
  }
  expect_close(131072.0f);
  for (int k = 1; k < 166'000; k += is_slow_build() ? 101 : 1) {
    const float x = static_cast<float>(0.78539816339744831 * k);
    expect_close(std::nextafter(x, 0.0f));
    expect_close(x);
    expect_close(std::nextafter(x, INFINITY));
  }
  EXPECT_EQ(sine_cosine_f32(0).sine, 0);
  EXPECT_EQ(sine_cosine_f32(0).cosine, 1);
}

// --- Gradients
// ------------------------------------------------------------------------------------

// The forward pass whose VJP the case is, in float64: inputs x, w and, for layer_norm, b.
Doubles forward(const KernelCase& c, const std::vector<Doubles>& inputs) {
  const char* kernel = c.kernel.starts_with("rms_norm_vjp") ? "rms_norm" : "layer_norm";
  const OracleCase oracle_case{inputs, oracle_shape_of(c), oracle_attributes_of(c),
                               kIeeeArithmetic};
  const std::vector<OracleTensor> outputs = find_kernel_oracle(kernel)(oracle_case);
  Doubles values;
  for (const Rounded& y : outputs[0]) values.push_back(y.value);
  return values;
}

double dot(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// (f(inputs + h v) - f(inputs - h v)) / 2h, contracted with g. Its own error is h^2 / 6 times a
// third derivative, here below 1e-2 / h^2 * 1e-10, and 2^-53 / h of rounding.
double directional_derivative(const KernelCase& c, const std::vector<Doubles>& inputs,
                              const std::vector<Doubles>& direction, const Doubles& g) {
  constexpr double kStep = 1e-5;
  std::vector<Doubles> plus = inputs;
  std::vector<Doubles> minus = inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t k = 0; k < inputs[i].size(); ++k) {
      plus[i][k] += kStep * direction[i][k];
      minus[i][k] -= kStep * direction[i][k];
    }
  }
  return (dot(g, forward(c, plus)) - dot(g, forward(c, minus))) / (2 * kStep);
}

constexpr double kFiniteDifferenceError = 1e-6;

std::vector<KernelCase> gradient_cases() {
  std::vector<KernelCase> cases;
  for (const char* kernel : {"rms_norm_vjp", "rms_norm_vjp_stream", "layer_norm_vjp"}) {
    cases.push_back({kernel, 1, 5});
    cases.push_back({kernel, 3, 2});
    cases.push_back({kernel, 4, 37});
  }
  return cases;
}

// Column sums of gw_rows, with the bounds summed alike.
OracleTensor column_sums(const Doubles& rows, const OracleTensor& bounds, uint64_t cols) {
  OracleTensor sums(cols);
  for (size_t i = 0; i < rows.size(); ++i) {
    sums[i % cols].value += rows[i];
    sums[i % cols].error += bounds[i].error;
  }
  return sums;
}

TEST(NormVjps, AgreeWithCentralDifferences) {
  for (const KernelCase& c : gradient_cases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    const Evaluated evaluated = evaluate(c);
    const Doubles& g = evaluated.inputs[2];
    const std::vector<Doubles> point = {evaluated.inputs[0], evaluated.inputs[1],
                                        Doubles(c.cols, 0.25)};
    const OracleTensor gw = column_sums(evaluated.outputs[1], evaluated.oracles[1], c.cols);
    const std::vector<Doubles> zeros = {Doubles(point[0].size()), Doubles(c.cols), Doubles(c.cols)};
    for (size_t k = 0; k < point[0].size(); ++k) {
      std::vector<Doubles> unit = zeros;
      unit[0][k] = 1;
      ASSERT_NEAR(evaluated.outputs[0][k], directional_derivative(c, point, unit, g),
                  evaluated.oracles[0][k].error + kFiniteDifferenceError);
    }
    for (size_t k = 0; k < c.cols; ++k) {
      std::vector<Doubles> unit = zeros;
      unit[1][k] = 1;
      ASSERT_NEAR(gw[k].value, directional_derivative(c, point, unit, g),
                  gw[k].error + kFiniteDifferenceError);
    }
  }
}

// <g, J v> = <VJP(g), v> for a v in all inputs at once; b of layer_norm has the VJP col_sum(g).
TEST(NormVjps, AreAdjointToTheForwardDerivative) {
  for (const KernelCase& c : gradient_cases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    const Evaluated evaluated = evaluate(c);
    const Doubles& g = evaluated.inputs[2];
    const bool has_bias = c.kernel == "layer_norm_vjp";
    std::vector<Doubles> v = {Doubles(c.rows * c.cols), Doubles(c.cols), Doubles(c.cols)};
    for (size_t i = 0; i < v.size(); ++i) {
      for (size_t k = 0; k < v[i].size(); ++k) {
        v[i][k] = std::sin(static_cast<double>(1 + i + 7 * k));
      }
    }
    double pulled_back = 0;
    double bound = 0;
    for (size_t k = 0; k < g.size(); ++k) {
      const double gx = evaluated.outputs[0][k];
      const double gw = evaluated.outputs[1][k];
      pulled_back +=
          gx * v[0][k] + gw * v[1][k % c.cols] + (has_bias ? g[k] * v[2][k % c.cols] : 0);
      bound += evaluated.oracles[0][k].error * std::fabs(v[0][k]) +
               evaluated.oracles[1][k].error * std::fabs(v[1][k % c.cols]);
    }
    const std::vector<Doubles> point = {evaluated.inputs[0], evaluated.inputs[1],
                                        Doubles(c.cols, 0.25)};
    EXPECT_NEAR(pulled_back, directional_derivative(c, point, v, g),
                bound + kFiniteDifferenceError);
  }
}

}  // namespace
}  // namespace interlock::kernel_numbers_test
