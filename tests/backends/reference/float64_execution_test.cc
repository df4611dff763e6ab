// Whole programs in float64: values that float32 cannot hold go through every kernel, and what is
// no float32 value goes through as bytes.
#include "backends/reference/float64_execution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "backends/float64/kernel_oracles.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::float64_execution_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> values_in(const Program& program, const Float64Image& image,
                              std::string_view name) {
  const TensorId id = program.find_tensor(name);
  if (id.is_some()) return values_of(program, image, id);
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

std::vector<double> values_after(const std::string& text, std::string_view name) {
  const Program program = parsed("interlock 1\n" + text);
  return values_in(program, execute_in_float64(program).value(), name);
}

TEST(Float64Execution, RoundsNothingBetweenDispatches) {
  // 1 + 2^-40 is 1 in float32.
  const std::string text =
      "tensor one f32[2] = ones\n"
      "tensor small f32[2]\n"
      "tensor sum f32[2]\n"
      "tensor back f32[2]\n"
      "tensor difference f32[2]\n"
      "dispatch scale reads one writes small factor=9.094947017729282e-13\n"
      "dispatch add reads one small writes sum\n"
      "dispatch scale reads one writes back factor=-1\n"
      "dispatch add reads sum back writes difference\n";
  EXPECT_THAT(values_after(text, "sum"), Each(1 + 0x1p-40));
  EXPECT_THAT(values_after(text, "difference"), Each(0x1p-40));
  const Program program = parsed("interlock 1\n" + text);
  EXPECT_THAT(
      values_of(program, image_after(program, reference_order_schedule(program)), "difference"),
      Each(0.0f));
}

// By the oracle of each kernel on the inputs of the case, which float32 holds.
TEST(Float64Execution, GivesTheValuesOfTheOracleOfEveryKernel) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const KernelOracle oracle = find_kernel_oracle(c.kernel);
    if (oracle == nullptr) continue;
    const Program program = program_of(c);
    const MemoryImage before = initial_image(program, kExecutionLimitBytes).value();
    OracleCase oracle_case{{}, oracle_shape_of(c), oracle_attributes_of(c), kIeeeArithmetic};
    for (const CaseOperand& operand : operands_of(c)) {
      if (operand.is_input())
        oracle_case.inputs.push_back(numbers_of(program, before, operand.name));
    }
    const std::vector<OracleTensor> expected = oracle(oracle_case);
    const Float64Image image = execute_in_float64(program).value();
    size_t next = 0;
    for (const CaseOperand& operand : operands_of(c)) {
      if (!operand.is_output) continue;
      Doubles values;
      for (const Rounded& element : expected[next]) values.push_back(element.value);
      ++next;
      EXPECT_EQ(values_in(program, image, operand.name), values) << c;
    }
    EXPECT_EQ(next, expected.size()) << c;
  }
}

TEST(Float64Execution, CopiesWholeWordsAsTheyAre) {
  const std::string text =
      "memory m 64\n"
      "tensor one f32[2] = ones\n"
      "tensor small f32[2]\n"
      "tensor sum f32[2]\n"
      "tensor copied f32[2] at m+8\n"
      "dispatch scale reads one writes small factor=9.094947017729282e-13\n"
      "dispatch add reads one small writes sum\n"
      "dispatch copy reads sum writes copied\n";
  EXPECT_THAT(values_after(text, "copied"), Each(1 + 0x1p-40));
}

TEST(Float64Execution, TakesOtherBytesForWhatTheySpell) {
  const std::string declarations =
      "memory m 64\n"
      "tensor x f32[2] at m+0 = values(1,2)\n"
      "tensor y f32[2] at m+8 = values(3,4)\n"
      "tensor z f32[2] at m+16 = zeros\n";
  // The upper two bytes of 1, which are those of 1, below those of 2.
  EXPECT_THAT(values_after(declarations + "dispatch copy reads m[2:6] writes m[14:18]\n", "y"),
              ElementsAre(3.0, 1.0));
  EXPECT_THAT(values_after(declarations + "dispatch copy reads m[0:8] writes m[16:24]\n", "z"),
              ElementsAre(1.0, 2.0));
  // Halves of words, in and out.
  EXPECT_THAT(values_after(declarations + "dispatch copy reads m[2:4] writes m[16:18]\n", "z"),
              ElementsAre(static_cast<double>(0x3f80p-149), 0.0));
  EXPECT_THAT(values_after(declarations + "dispatch fill writes m[8:12] value=0\n", "y"),
              ElementsAre(0.0, 4.0));
}

// `mix` gives all bits of the CPU; it reads what float64 left as float32.
TEST(Float64Execution, RunsOpaqueDispatchesOnTheRoundedBytes) {
  const Program program = parsed(
      "interlock 1\n"
      "tensor x f32[2] = random(1)\n"
      "tensor y f32[2]\n"
      "tensor z f32[2]\n"
      "dispatch scale reads x writes y factor=0.5\n"  // Exact in float32.
      "dispatch Opaque reads y writes z\n");
  const std::vector<float> expected =
      values_of(program, image_after(program, reference_order_schedule(program)), "z");
  const std::vector<double> actual = values_in(program, execute_in_float64(program).value(), "z");
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(static_cast<float>(actual[i]) == expected[i] || std::isnan(expected[i]));
  }
}

TEST(Float64Execution, ReadsIdsAsNumbersAlsoThroughACopy) {
  EXPECT_THAT(values_after("tensor ids i32[2] = values(2,0)\n"
                           "tensor same i32[2]\n"
                           "tensor table f32[3,1] = values(5,6,7)\n"
                           "tensor y f32[2,1]\n"
                           "dispatch copy reads ids writes same\n"
                           "dispatch embedding reads same table writes y\n",
                           "y"),
              ElementsAre(7.0, 5.0));
}

TEST(Float64Execution, UpdatesInPlace) {
  const std::string text =
      "tensor w f32[1] = ones\n"
      "tensor g f32[1] = ones\n"
      "dispatch sgd reads g updates w lr=0.25\n"
      "dispatch sgd reads g updates w lr=0.25\n";
  EXPECT_THAT(values_after(text, "w"), ElementsAre(0.5));
}

TEST(Float64Execution, HasALimit) {
  const Program program = parsed("interlock 1\nmemory m 4096\ndispatch Opaque writes m[0:64]\n");
  EXPECT_TRUE(execute_in_float64(program, 4096));
  const auto refused = execute_in_float64(program, 4095);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("4095 bytes"));
}

}  // namespace
}  // namespace interlock::float64_execution_test
