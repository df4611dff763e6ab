// The oracle check, by wrong executions that it must find, each made by the cpu backend from a
// program that does something else.
#include "backends/reference/oracle_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "backends/float64/kernel_oracles.h"
#include "encoder/kernel/kernel_table.h"
#include "tests/backends/kernels/number_case.h"
#include "tests/program_count.h"

namespace interlock::oracle_check_test {
namespace {

using testing::HasSubstr;

constexpr DispatchId kFirst{0};

MemoryImage image_before(const Program& program) {
  return initial_image(program, kExecutionLimitBytes).value();
}

MemoryImage image_after(const Program& program) {
  return image_after(program, reference_order_schedule(program));
}

// Of the only dispatch of `program`, if `after` were what it left.
OracleCheck check_of(const Program& program, const MemoryImage& after,
                     const Arithmetic& arithmetic = kIeeeArithmetic) {
  return check_against_oracle(program, kFirst, image_before(program), after, arithmetic).value();
}

// The smallest float beyond `value` in the direction of `sign` that is off by more than `error`.
float beyond(double value, double error, float sign) {
  float moved = static_cast<float>(value + double{sign} * error);
  while (std::fabs(double{moved} - value) <= error) moved = std::nextafter(moved, sign * INFINITY);
  return moved;
}

void store(MemoryImage& image, const Access& access, uint64_t element, float value) {
  std::memcpy(&image.memories[access.memory.index][access.range.begin + 4 * element], &value, 4);
}

float load(const MemoryImage& image, const Access& access, uint64_t element) {
  float value;
  std::memcpy(&value, &image.memories[access.memory.index][access.range.begin + 4 * element], 4);
  return value;
}

// Each element of each output, moved out of its bound by one float: found, and named.
TEST(OracleCheck, FindsEveryElementThatLeavesItsBound) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const KernelOracle oracle = find_kernel_oracle(c.kernel);
    if (oracle == nullptr) continue;
    const Program program = program_of(c);
    const MemoryImage right = image_after(program);
    const std::span<const Access> accesses = program.accesses_of(kFirst);
    OracleCase oracle_case{{}, oracle_shape_of(c), oracle_attributes_of(c), kIeeeArithmetic};
    std::vector<uint32_t> written;
    for (uint32_t i = 0; i < operands_of(c).size(); ++i) {
      const CaseOperand operand = operands_of(c)[i];
      if (operand.is_output) written.push_back(i);
      if (!operand.is_input()) continue;
      oracle_case.inputs.push_back(numbers_of(program, image_before(program), operand.name));
    }
    const std::vector<OracleTensor> outputs = oracle(oracle_case);
    ASSERT_EQ(outputs.size(), written.size()) << c;
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const uint32_t operand = written[i];
      for (uint64_t k = 0; k < outputs[i].size(); k += is_slow_build() ? 35 : 5) {
        MemoryImage wrong = right;
        const float sign = k % 2 == 0 ? 1.0f : -1.0f;
        store(wrong, accesses[operand], k, beyond(outputs[i][k].value, outputs[i][k].error, sign));
        const OracleCheck check = check_of(program, wrong);
        ASSERT_TRUE(check.mismatch.has_value()) << c << " element " << k;
        EXPECT_EQ(check.mismatch->operand, operand);
        EXPECT_EQ(check.mismatch->element, k);
      }
    }
  }
}

// Every input read one element further, and every attribute off by a thousandth or 1: so an index
// that is off by one, or a wrong attribute, is found in every kernel.
TEST(OracleCheck, FindsWrongIndicesAndAttributesInEveryKernel) {
  for (const Arithmetic& arithmetic : {kIeeeArithmetic, kVulkanArithmetic}) {
    for (const KernelCase& c : one_case_per_kernel()) {
      if (c.kernel == "fill") continue;
      const CaseText text = text_of(c);
      const Program program = program_of(c);
      EXPECT_FALSE(check_of(program, image_after(program), arithmetic).mismatch.has_value());
      for (const CaseOperand& operand : operands_of(c)) {
        if (operand.is_output) continue;  // One that is updated is written there, too.
        std::string shape;
        for (const uint64_t extent : operand.shape) {
          shape += (shape.empty() ? "" : ",") + std::to_string(extent);
        }
        std::string dispatch = text.dispatch;
        const std::string name = " " + operand.name + " ";
        dispatch.replace(dispatch.find(name), name.size(), " shifted ");
        const Program wrong =
            parsed(text.declarations + "tensor shifted " + std::string(word_of(operand.dtype)) +
                   "[" + shape + "] at memory_" + operand.name + "+260\n" + dispatch);
        EXPECT_TRUE(check_of(program, image_after(wrong), arithmetic).mismatch.has_value())
            << c << ": " << operand.name;
      }
      for (const auto& [name, value] : attributes_of(c)) {
        const size_t begin = text.dispatch.find(" " + name + "=");
        const size_t end = text.dispatch.find_first_of(" \n", begin + 1);
        const double other = name == "step" || name == "start" ? value + 1 : value * 1.001;
        const std::string dispatch = text.dispatch.substr(0, begin) + " " + name + "=" +
                                     std::to_string(other) + text.dispatch.substr(end);
        const Program wrong = parsed(text.declarations + dispatch);
        EXPECT_TRUE(check_of(program, image_after(wrong), arithmetic).mismatch.has_value())
            << c << ": " << name;
      }
    }
  }
}

// One term in 41 missing, the smallest of each sum: found in every element.
TEST(OracleCheck, FindsATermThatASumDrops) {
  for (const char* kernel : {"row_sum", "col_sum", "matmul_nn", "matmul_nt", "matmul_tn"}) {
    const KernelCase c{kernel, 41, 41, 41};
    const Program program = program_of(c);
    const MemoryImage right = image_after(program);
    const std::span<const Access> accesses = program.accesses_of(kFirst);
    const bool is_matmul = accesses.size() == 3;
    for (uint64_t k = 0; k < 41; ++k) {
      double smallest = INFINITY;
      for (uint64_t i = 0; i < 41; ++i) {
        const bool is_transposed =
            std::string(kernel) == "col_sum" || std::string(kernel) == "matmul_tn";
        double term = load(right, accesses[0], is_transposed ? i * 41 + k : k * 41 + i);
        // Element [k, 0] of the product.
        if (is_matmul) {
          term *= load(right, accesses[1], std::string(kernel) == "matmul_nt" ? i : i * 41);
        }
        if (std::fabs(term) < std::fabs(smallest)) smallest = term;
      }
      const uint64_t element = is_matmul ? k * 41 : k;
      MemoryImage wrong = right;
      const float sum = load(right, accesses.back(), element);
      store(wrong, accesses.back(), element, static_cast<float>(double{sum} - smallest));
      EXPECT_TRUE(check_of(program, wrong).mismatch.has_value())
          << kernel << " element " << element << " without " << smallest;
    }
  }
}

TEST(OracleCheck, FindsBytesThatChangeOutsideOfTheOutputs) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const Program program = program_of(c);
    const MemoryImage right = image_after(program);
    const std::span<const Access> accesses = program.accesses_of(kFirst);
    const Access& output = accesses.back();
    std::vector<std::pair<MemoryId, uint64_t>> places = {
        {output.memory, output.range.begin - 1},
        {output.memory, output.range.end},
        {output.memory, 0},
        {output.memory, program.memory(output.memory).size_bytes - 1}};
    if (accesses.size() > 1) places.push_back({accesses[0].memory, accesses[0].range.begin});
    for (const auto& [memory, offset] : places) {
      MemoryImage wrong = right;
      wrong.memories[memory.index][offset] ^= 1;
      const OracleCheck check = check_of(program, wrong);
      ASSERT_TRUE(check.mismatch.has_value()) << c;
      EXPECT_FALSE(check.mismatch->operand.has_value());
      EXPECT_EQ(check.mismatch->memory, memory);
      EXPECT_EQ(check.mismatch->bytes, (ByteRange{offset, offset + 1}));
      EXPECT_THAT(check.mismatch->message, HasSubstr("which it does not declare to write"));
    }
  }
}

TEST(OracleCheck, FindsAWrongByteOfExactKernels) {
  for (const char* text :
       {"interlock 1\nmemory a 64\nfill0: dispatch fill writes a[3:9] value=7\n",
        "interlock 1\nmemory a 64\nmemory b 64\ncopy0: dispatch copy reads a[1:7] writes b[3:9]\n",
        "interlock 1\nmemory a 64\nmemory b 64\nk: dispatch K reads a[1:7] updates b[3:9]\n",
        "interlock 1\nmemory b 64\nk: dispatch K atomics b[3:9] atomic=xor\n",
        "interlock 1\nmemory b 64\nk: dispatch K writes b[3:9] partial\n"}) {
    const Program program = parsed(text);
    const MemoryImage right = image_after(program);
    EXPECT_FALSE(check_of(program, right).mismatch.has_value()) << text;
    EXPECT_EQ(check_of(program, right).element_count, 6u);
    MemoryImage wrong = right;
    wrong.memories.back()[8] ^= 1;
    const OracleCheck check = check_of(program, wrong);
    ASSERT_TRUE(check.mismatch.has_value()) << text;
    EXPECT_EQ(check.mismatch->element, 5u);
    EXPECT_EQ(check.mismatch->bound, 0);
    EXPECT_EQ(check.mismatch->bytes, (ByteRange{8, 9}));
  }
}

TEST(OracleCheck, TakesInputsFromBefore) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const std::vector<CaseOperand> operands = operands_of(c);
    for (const auto& [input, output] :
         kernel_entry(find_kernel(c.kernel).value()).identical_pairs) {
      const std::string& name = operands[static_cast<size_t>(output)].name;
      const Program program =
          program_of(c, {{name, {operands[static_cast<size_t>(input)].name, 0}}});
      const OracleCheck check = check_of(program, image_after(program));
      EXPECT_TRUE(check.is_judged) << c;
      EXPECT_FALSE(check.mismatch.has_value()) << c << "\n" << check.mismatch->message;
    }
  }
}

TEST(OracleCheck, JudgesNoValuesOfOperandsThatMayNotShareBytes) {
  const Program program = program_of({"silu", 3, 5}, {{"y", {"x", 4}}});
  const MemoryImage after = image_after(program);
  EXPECT_FALSE(check_of(program, after).is_judged);
  EXPECT_FALSE(check_of(program, after).mismatch.has_value());
  MemoryImage wrong = after;
  wrong.memories[0][0] ^= 1;
  EXPECT_TRUE(check_of(program, wrong).mismatch.has_value());
}

TEST(OracleCheck, WantsTheCanonicalNan) {
  const PreparedCase c = prepared(KernelCase{"add", 1, 2}, R"(
dispatch fill writes memory_a[256:260] value=255
dispatch fill writes memory_b[260:264] value=255
)");
  const MemoryImage before = image_after(c.preparation);
  const MemoryImage after = image_after(c.program);
  const auto check = [&](const MemoryImage& image) {
    return check_against_oracle(c.program, c.last(), before, image, kIeeeArithmetic).value();
  };
  EXPECT_FALSE(check(after).mismatch.has_value());
  MemoryImage other_nan = after;
  other_nan.memories[2][256] ^= 1;
  EXPECT_TRUE(check(other_nan).mismatch.has_value());
}

TEST(OracleCheck, SaysWhatIsWrong) {
  const Program program = parsed(R"(interlock 1
memory a 16
memory b 16
tensor x f32[2] at a+0 = ones
tensor y f32[2] at b+8
double: dispatch scale reads x writes y factor=2
)");
  MemoryImage wrong = image_after(program);
  store(wrong, program.accesses_of(kFirst)[1], 1, 3.0f);
  const OracleCheck check = check_of(program, wrong);
  ASSERT_TRUE(check.mismatch.has_value());
  EXPECT_EQ(
      check.mismatch->message,
      "double (dispatch 0) leaves 3 in element 1 of 'y', where the oracle has 2 and allows an error of 0.");
  EXPECT_EQ(check.mismatch->bytes, (ByteRange{12, 16}));
  wrong.memories.pop_back();
  const auto refused = check_against_oracle(program, kFirst, image_before(program), wrong);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "The image after double (dispatch 0) does not have the memories of the program.");
}

TEST(KernelOracles, ExistForEveryFloatKernel) {
  for (const KernelEntry& entry : kernel_table()) {
    EXPECT_NE(find_kernel_oracle(entry.name) == nullptr, !entry.is_bytewise) << entry.name;
  }
  EXPECT_EQ(find_kernel_oracle("no_such_kernel"), nullptr);
}

}  // namespace
}  // namespace interlock::oracle_check_test
