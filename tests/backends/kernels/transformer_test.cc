// What embedding, rope and cross-entropy mean, on numbers that can be checked by hand: ids that
// meet and ids of any bytes, turns that keep lengths and come back, losses known in closed form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backends/cpu/instrumented.h"
#include "backends/kernels/all_kernels.h"
#include "encoder/kernel/kernel_table.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::transformer_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;
using testing::IsEmpty;

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

// Operands in vectors, ids as floats of their bits; the last is written.
class VectorMemory {
 public:
  explicit VectorMemory(std::vector<Floats> operands) : operands_(std::move(operands)) {}

  float load_f32(int operand, uint64_t i) const { return operands_[index(operand)].at(i); }
  uint32_t load_word(int operand, uint64_t offset) const {
    return bits_of_f32(load_f32(operand, offset / sizeof(float)));
  }
  void store_f32(int operand, uint64_t i, float v) {
    operands_[index(operand)].at(i) = canonical(v);
  }
  const Floats& output() const { return operands_.back(); }

 private:
  static size_t index(int operand) { return static_cast<size_t>(operand); }

  std::vector<Floats> operands_;
};

Floats ids(const std::vector<uint32_t>& values) {
  Floats words;
  for (const uint32_t value : values) words.push_back(f32_of_bits(value));
  return words;
}

template <class Kernel>
Floats run_on(const KernelParams& params, std::vector<Floats> inputs, size_t output_count) {
  inputs.emplace_back(output_count, 77.0f);
  VectorMemory memory(std::move(inputs));
  for (uint64_t slice = 0; slice < params.rows; ++slice) {
    Kernel::run(OneLane(), memory, params, slice);
  }
  return memory.output();
}

KernelParams extents(uint32_t rows, uint32_t cols, uint32_t inner = 0) {
  KernelParams params;
  params.rows = rows;
  params.cols = cols;
  params.inner = inner;
  params.base = 100;
  return params;
}

MATCHER(IsNan, "") { return std::isnan(arg); }

// --- Embedding

TEST(Embedding, GathersRowsByIds) {
  const Floats table = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(run_on<EmbeddingKernel>(extents(4, 2, 3), {ids({2, 0, 2, 1}), table}, 8),
              ElementsAre(5, 6, 1, 2, 5, 6, 3, 4));
}

// -1 is 2^32 - 1, and that is 0 modulo 3; 2^31 is 2 modulo 3.
TEST(Embedding, TakesIdsModuloTheTable) {
  const Floats table = {1, 2, 3};
  EXPECT_THAT(
      run_on<EmbeddingKernel>(extents(5, 1, 3), {ids({3, 4, 5, 0x80000000u, ~0u}), table}, 5),
      ElementsAre(1, 2, 3, 3, 1));
}

// Ids may be any bytes, also what lies there by accident: no kernel reads outside.
TEST(Embedding, ReadsNothingOutsideWhateverTheBytesAre) {
  for (const char* kernel : {"embedding", "embedding_vjp", "cross_entropy", "cross_entropy_vjp"}) {
    for (int seed = 0; seed < 8; ++seed) {
      const KernelCase c{kernel, 13, 5, 7};
      const CaseText text = text_of(c);
      const std::string name = operands_of(c)[0].dtype == DType::kI32 ? "ids" : "labels";
      const Program program =
          parsed(text.declarations + "bits_" + std::to_string(seed) + ": dispatch Bits writes " +
                 name + "\nbarrier\n" + text.dispatch);
      const auto run = run_instrumented(program, {});
      ASSERT_TRUE(run.has_value());
      EXPECT_THAT(run->findings, IsEmpty()) << kernel;
      bool has_large = false;
      for (const double id : numbers_of(program, run->image, name)) has_large |= id >= 1e6;
      EXPECT_TRUE(has_large);  // Else this says nothing.
    }
  }
}

TEST(EmbeddingVjp, AddsTheRowsOfAnIdAndLeavesZeroWhereThereIsNone) {
  const Floats g = {1, 10, 2, 20, 4, 40, 8, 80};
  EXPECT_THAT(run_on<EmbeddingVjpKernel>(extents(3, 2, 4), {ids({2, 0, 2, 5}), g}, 6),
              ElementsAre(2, 20, 0, 0, 1 + 4 + 8, 10 + 40 + 80));
}

// In float32, 1e8 + 1 - 1e8 is 0, and 1e8 - 1e8 + 1 is 1.
TEST(EmbeddingVjp, AddsInTheOrderOfTheIds) {
  const auto sum = [](const Floats& g) {
    return run_on<EmbeddingVjpKernel>(extents(1, 1, 3), {ids({0, 0, 0}), g}, 1)[0];
  };
  EXPECT_EQ(sum({1e8f, 1, -1e8f}), 0);
  EXPECT_EQ(sum({1e8f, -1e8f, 1}), 1);
}

// --- Rope

// Of base 100 and four columns: the first pair turns by the position, the second by a tenth of it.
TEST(Rope, TurnsPairsByThePosition) {
  const Floats x = {1, 0, 0, 1, 1, 0, 0, 1};
  KernelParams params = extents(2, 4);
  const Floats y = run_on<RopeKernel>(params, {x}, 8);
  EXPECT_THAT(Floats(y.begin(), y.begin() + 4), ElementsAre(1, 0, 0, 1));  // Position 0.
  for (const uint32_t start : {1u, 7u, 65'536u}) {
    params.start = start;
    const Floats turned = run_on<RopeKernel>(params, {x}, 8);
    for (uint32_t row = 0; row < 2; ++row) {
      const double angle = start + row;
      const double slow = angle / 10;
      // The frequency is off by some 2^-22 relatively.
      const auto error = static_cast<float>(0x1p-22 * (1 + slow));
      EXPECT_THAT(Floats(turned.begin() + 4 * row, turned.begin() + 4 * row + 4),
                  ElementsAre(FloatNear(static_cast<float>(std::cos(angle)), 1e-6f),
                              FloatNear(static_cast<float>(std::sin(angle)), 1e-6f),
                              FloatNear(static_cast<float>(-std::sin(slow)), error),
                              FloatNear(static_cast<float>(std::cos(slow)), error)))
          << start << " row " << row;
    }
  }
}

// Start is where a later part of a sequence continues.
TEST(Rope, ContinuesFromItsStart) {
  Floats x(6 * 4);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const Floats whole = run_on<RopeKernel>(extents(6, 4), {x}, 24);
  KernelParams later = extents(2, 4);
  later.start = 4;
  const Floats tail = run_on<RopeKernel>(later, {Floats(x.begin() + 16, x.end())}, 8);
  EXPECT_EQ(tail, Floats(whole.begin() + 16, whole.end()));
}

// A turn and back, which keeps lengths: each of two turns is off by some ulp of a pair's length,
// whatever the angle is, because both have the same one.
TEST(RopeVjp, TurnsBack) {
  KernelParams params = extents(40, 6);
  params.base = 10'000;
  params.start = 1000;
  Floats x(40 * 6);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(7 * i));
  const Floats y = run_on<RopeKernel>(params, {x}, x.size());
  const Floats back = run_on<RopeVjpKernel>(params, {y}, x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(back[i], x[i], 16 * 0x1p-24) << i;
    const size_t pair = i - i % 2;
    EXPECT_NEAR(std::hypot(y[pair], y[pair + 1]), std::hypot(x[pair], x[pair + 1]), 16 * 0x1p-24);
  }
  EXPECT_NE(y, x);
}

// --- Cross-entropy

float loss_of(const Floats& logits, uint32_t label) {
  const auto cols = static_cast<uint32_t>(logits.size());
  return run_on<CrossEntropyKernel>(extents(1, cols), {logits, ids({label})}, 1)[0];
}

Floats gradient_of(const Floats& logits, uint32_t label, float g) {
  const auto cols = static_cast<uint32_t>(logits.size());
  return run_on<CrossEntropyVjpKernel>(extents(1, cols), {logits, ids({label}), {g}}, cols);
}

TEST(CrossEntropy, IsKnownInClosedForm) {
  EXPECT_EQ(loss_of({5}, 0), 0);
  EXPECT_FLOAT_EQ(loss_of({0, 0, 0, 0}, 2), std::log(4.0f));
  EXPECT_FLOAT_EQ(loss_of({1, 3}, 0), 2 + std::log1p(std::exp(-2.0f)));
  EXPECT_FLOAT_EQ(loss_of({1, 3}, 1), std::log1p(std::exp(-2.0f)));
  EXPECT_FLOAT_EQ(loss_of({1, 3}, 5), loss_of({1, 3}, 1));  // Modulo the columns.
  EXPECT_EQ(loss_of({0, 0, 0}, ~0u), loss_of({0, 0, 0}, 0));
}

TEST(CrossEntropy, DoesNotOverflow) {
  EXPECT_EQ(loss_of({1000, -1000}, 0), 0);
  EXPECT_EQ(loss_of({1000, -1000}, 1), 2000);
  EXPECT_EQ(loss_of({3e38f, 0}, 1), 3e38f);
}

TEST(CrossEntropy, TreatsInfinitiesAsTheExpressionDoes) {
  EXPECT_EQ(loss_of({1, -kInfinity}, 0), 0);
  EXPECT_EQ(loss_of({1, -kInfinity}, 1), kInfinity);
  EXPECT_THAT(loss_of({1, kInfinity}, 0), IsNan());
  EXPECT_THAT(loss_of({1, kNan}, 0), IsNan());
  EXPECT_THAT(loss_of({-kInfinity, -kInfinity}, 0), IsNan());
}

TEST(CrossEntropyVjp, IsTheDistanceFromTheLabel) {
  EXPECT_THAT(gradient_of({0, 0, 0, 0}, 1, 2), ElementsAre(0.5, -1.5, 0.5, 0.5));
  EXPECT_THAT(gradient_of({0, 0, 0, 0}, 5, 2), ElementsAre(0.5, -1.5, 0.5, 0.5));
  EXPECT_THAT(gradient_of({1000, -1000}, 0, 3), ElementsAre(0, 0));
  EXPECT_THAT(gradient_of({1, kNan, 1}, 0, 1), Each(IsNan()));
  EXPECT_THAT(gradient_of({1, -kInfinity}, 0, 1), ElementsAre(0, 0));
}

}  // namespace
}  // namespace interlock::transformer_test
