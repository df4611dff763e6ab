// softmax and its VJP beyond random numbers: infinities, NaNs, magnitudes that overflow without the
// maximum; and silu_vjp where its parts cancel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backends/cpu/execute.h"
#include "backends/float64/kernel_oracles.h"
#include "backends/kernels/all_kernels.h"
#include "encoder/kernel/kernel_table.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::attention_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Floats = std::vector<float>;

// One lane that runs alone.
class OneLane {
 public:
  uint32_t index() const { return 0; }
  uint32_t count() const { return 1; }
  void sync() const {}
  float& shared(uint32_t i) const { return shared_[i]; }

 private:
  mutable float shared_[kSharedCount] = {};
};

// Operands in vectors; the last is written.
class VectorMemory {
 public:
  explicit VectorMemory(std::vector<Floats> operands) : operands_(std::move(operands)) {}

  float load_f32(int operand, uint64_t i) const { return operands_[index(operand)].at(i); }
  void store_f32(int operand, uint64_t i, float v) {
    operands_[index(operand)].at(i) = canonical(v);
  }
  const Floats& output() const { return operands_.back(); }

 private:
  static size_t index(int operand) { return static_cast<size_t>(operand); }

  std::vector<Floats> operands_;
};

// A single row, or a single block, of any kernel of one output that has the shape of its inputs.
template <class Kernel>
Floats run_on(std::vector<Floats> inputs) {
  KernelParams params;
  params.rows = 1;
  params.cols = static_cast<uint32_t>(inputs[0].size());
  params.element_count = params.cols;
  params.block = params.cols;
  inputs.emplace_back(inputs[0].size(), 77.0f);
  VectorMemory memory(std::move(inputs));
  Kernel::run(OneLane(), memory, params, 0);
  return memory.output();
}

// Of a single row.
OracleTensor oracle_of(std::string_view kernel, const std::vector<Floats>& inputs) {
  OracleCase c{{}, {1, inputs[0].size(), 1}, {}, kIeeeArithmetic};
  for (const Floats& input : inputs) c.inputs.emplace_back(input.begin(), input.end());
  return find_kernel_oracle(kernel)(c)[0];
}

void expect_within(const Floats& values, const OracleTensor& oracle) {
  ASSERT_EQ(values.size(), oracle.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(std::fabs(values[i] - oracle[i].value), oracle[i].error)
        << "element " << i << " is " << values[i] << ", the oracle " << oracle[i].value;
  }
}

MATCHER(IsNan, "") { return std::isnan(arg); }

TEST(Softmax, DoesNotOverflow) {
  for (const Floats& x : {Floats{1000, 999, 1000.5}, Floats{-1000, -999, -1e30f}, Floats{3e38f, 0},
                          Floats{-3e38f, 3e38f}, Floats{88.8f, 88.7f, 1}, Floats{-5}}) {
    expect_within(run_on<SoftmaxKernel>({x}), oracle_of("softmax", {x}));
  }
}

TEST(Softmax, SubtractsTheMaximumWhereverItStands) {
  for (const size_t size : {1, 2, 31, 32, 33, 64, 100}) {
    for (size_t at = 0; at < size; ++at) {
      Floats x(size, -40.0f);
      x[at] = 90.0f;
      const Floats y = run_on<SoftmaxKernel>({x});
      EXPECT_EQ(y[at], 1.0f) << at << " of " << size;
    }
  }
}

TEST(Softmax, SumsToOne) {
  Floats x(100);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 20;
  double sum = 0;
  double bound = 0;
  const Floats y = run_on<SoftmaxKernel>({x});
  const OracleTensor oracle = oracle_of("softmax", {x});
  for (size_t i = 0; i < x.size(); ++i) {
    sum += y[i];
    bound += oracle[i].error;
  }
  EXPECT_NEAR(sum, 1, bound);
}

TEST(Softmax, GivesNothingToMinusInfinity) {
  EXPECT_EQ(run_on<SoftmaxKernel>({{-kInfinity, 2, -kInfinity}}), (Floats{0, 1, 0}));
  EXPECT_EQ(run_on<SoftmaxKernel>({{0, 0, -kInfinity}}), (Floats{0.5, 0.5, 0}));
}

TEST(Softmax, IsNanThroughoutWhereItHasNoValue) {
  for (const Floats& x :
       {Floats{1, kNan, 2}, Floats{kNan, kInfinity, -kInfinity}, Floats{0, kInfinity, 1},
        Floats{-kInfinity, -kInfinity, -kInfinity}, Floats{kInfinity, -kInfinity, kInfinity}}) {
    EXPECT_THAT(run_on<SoftmaxKernel>({x}), testing::Each(IsNan())) << testing::PrintToString(x);
  }
  // Also far from where a tree of 32 would look first.
  for (size_t at = 0; at < 70; ++at) {
    Floats x(70, 1.0f);
    x[at] = kNan;
    EXPECT_THAT(run_on<SoftmaxKernel>({x}), testing::Each(IsNan())) << at;
  }
}

TEST(SoftmaxVjp, IsNanThroughoutWhereARowHasOne) {
  EXPECT_THAT(run_on<SoftmaxVjpKernel>({{0.5, 0.5}, {kNan, 1}}), testing::Each(IsNan()));
  EXPECT_THAT(run_on<SoftmaxVjpKernel>({{kNan, 0.5}, {1, 1}}), testing::Each(IsNan()));
  EXPECT_THAT(run_on<SoftmaxVjpKernel>({{0, 1}, {kInfinity, 1}}), testing::Each(IsNan()));
}

// A softmax does not see a constant added to its row: the gradient of a row sums to zero, and that
// of a constant cotangent is zero.
TEST(SoftmaxVjp, IsOrthogonalToConstants) {
  Floats x(50);
  Floats g(50);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(static_cast<float>(3 * i));
    g[i] = std::cos(static_cast<float>(5 * i));
  }
  const Floats y = run_on<SoftmaxKernel>({x});
  const auto sum_of = [&](const Floats& cotangent) {
    const Floats gx = run_on<SoftmaxVjpKernel>({y, cotangent});
    double sum = 0;
    for (const float v : gx) sum += v;
    return sum;
  };
  // y itself sums to 1 only within its bounds, which the second factor of the sum sees.
  double bound = 0;
  double y_bound = 0;
  const OracleTensor oracle = oracle_of("softmax_vjp", {y, g});
  const OracleTensor y_oracle = oracle_of("softmax", {x});
  for (size_t i = 0; i < x.size(); ++i) {
    bound += oracle[i].error;
    y_bound += y_oracle[i].error;
  }
  EXPECT_NEAR(sum_of(g), 0, bound + y_bound);
  EXPECT_NEAR(sum_of(Floats(50, 1.0f)), 0, 2 * (bound + y_bound));
}

TEST(SiluVjp, StaysWithinItsBoundWhereItsPartsCancel) {
  Floats x;
  for (int i = -1200; i <= 1200; ++i) x.push_back(static_cast<float>(i) / 10);
  x.push_back(-1.2784645f);  // Where the derivative is zero.
  x.push_back(0.0f);
  x.push_back(-3e38f);
  x.push_back(3e38f);
  const Floats g(x.size(), -1.5f);
  expect_within(run_on<SiluVjpKernel>({x, g}), oracle_of("silu_vjp", {x, g}));
  EXPECT_EQ(run_on<SiluVjpKernel>({{0.0f}, {1.0f}}), (Floats{0.5f}));
}

TEST(SiluVjp, IsNanAtInfinityAndNan) {
  EXPECT_THAT(run_on<SiluVjpKernel>({{kInfinity, -kInfinity, kNan, 1}, {1, 1, 1, kNan}}),
              testing::Each(IsNan()));
}

}  // namespace
}  // namespace interlock::attention_test
