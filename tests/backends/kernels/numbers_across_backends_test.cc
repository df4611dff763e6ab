// Every kernel on every backend of this build, over randomized shapes and magnitudes: each value
// within the bound that the device's arithmetic allows, no byte changed besides the outputs, and
// the bits of the CPU where the device rounds correctly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "backends/float64/kernel_oracles.h"
#include "backends/reference/oracle_check.h"
#include "backends/registry.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/text/printer.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/backends/kernels/number_case.h"
#include "tests/program_count.h"

namespace interlock::numbers_across_backends_test {
namespace {

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Backend* backend : backend_registry()) names.emplace_back(backend->name());
  return names;
}

class NumbersAcrossBackends : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const Availability availability = backend().availability();
    if (!availability.is_available) GTEST_SKIP() << GetParam() << ": " << availability.reason;
    capabilities_ = backend().capabilities();
  }

  Backend& backend() const { return *find_backend(GetParam()); }
  const Capabilities& capabilities() const { return capabilities_; }

  static MemoryImage image_on(Backend& backend, const Program& program) {
    auto image = backend.run(program, reference_order_schedule(program), ExecutionMode::kWitness);
    if (!image) {
      ADD_FAILURE() << image.error().message;
      return initial_image(program, kExecutionLimitBytes).value();
    }
    return std::move(*image);
  }

  // Judges the last dispatch on this backend, and compares bits if they must be the CPU's.
  OracleCheck judged(const PreparedCase& c) const {
    const MemoryImage after = image_on(backend(), c.program);
    const auto check = check_against_oracle(c.program, c.last(), image_on(backend(), c.preparation),
                                            after, arithmetic_of(capabilities_));
    if (capabilities_.rounds_correctly) {
      EXPECT_TRUE(after == image_on(*find_backend("cpu"), c.program)) << "other bits than the CPU";
    }
    if (!check) {
      ADD_FAILURE() << check.error().message;
      return {};
    }
    EXPECT_FALSE(check->mismatch.has_value()) << check->mismatch->message;
    return *check;
  }

 private:
  Capabilities capabilities_;
};

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(, NumbersAcrossBackends, testing::ValuesIn(backend_names()), test_name);

constexpr uint64_t kManyTerms = 90;

struct Tally {
  double ratio_max = 0;
  double deep_ratio_max = 0;  // Of shapes whose sums have at least kManyTerms.
  uint64_t element_count = 0;
  uint64_t exact_count = 0;
  uint64_t special_count = 0;
  uint64_t unbounded_count = 0;
};

// How many terms the sums of the kernel have at this shape; 1 without sums.
uint64_t term_count_of(const KernelCase& c) {
  const std::string& k = c.kernel;
  if (k == "col_sum") return c.rows;
  if (k.starts_with("matmul")) return c.inner;
  const bool has_row_sums = k == "row_sum" || k.starts_with("rms_norm") ||
                            k.starts_with("layer_norm") || k.starts_with("softmax") ||
                            k.starts_with("cross_entropy");
  return has_row_sums ? c.cols : 1;
}

// Bounds are sound if nothing leaves them, and tight if something comes near: within a factor of
// 50 for every kernel, and of 200 where sums are long, whose roundings partly cancel. Ratios are
// properties of the test's report. A slow build tries one case in seven, which nothing need come
// near.
TEST_P(NumbersAcrossBackends, AreWithinTightBounds) {
  std::map<std::string, Tally> tallies;
  const std::vector<NumberCase> cases = number_cases();
  // Of the device that is emulated one in four, and all under ./dev prove.
  const bool is_emulated = GetParam() == "cuda-emulated";
  const size_t step = static_cast<size_t>(is_emulated ? proof_count(1, 4, 1) : 1);
  for (size_t i = 0; i < cases.size(); i += is_slow_build() ? 37 : step) {
    const NumberCase& c = cases[i];
    SCOPED_TRACE(testing::PrintToString(c));
    const OracleCheck check = judged(prepared(c));
    EXPECT_TRUE(check.is_judged);
    Tally& tally = tallies[c.kernel.kernel];
    tally.ratio_max = std::max(tally.ratio_max, check.ratio_max);
    if (term_count_of(c.kernel) >= kManyTerms) {
      tally.deep_ratio_max = std::max(tally.deep_ratio_max, check.ratio_max);
    }
    tally.element_count += check.element_count;
    tally.exact_count += check.exact_count;
    tally.unbounded_count += check.unbounded_count;
    const bool is_tame = c.magnitudes == Magnitudes::kUnit || c.magnitudes == Magnitudes::kShifted;
    EXPECT_TRUE(!is_tame || check.unbounded_count == 0) << check.unbounded_count;
  }
  for (const auto& [kernel, tally] : tallies) {
    RecordProperty("ratio_max_" + kernel, std::to_string(tally.ratio_max));
    if (tally.deep_ratio_max > 0) {
      RecordProperty("deep_ratio_max_" + kernel, std::to_string(tally.deep_ratio_max));
    }
    RecordProperty("unbounded_" + kernel, std::to_string(tally.unbounded_count) + " of " +
                                              std::to_string(tally.element_count));
    if (tally.exact_count == tally.element_count) continue;
    EXPECT_LE(tally.ratio_max, 1) << kernel;
    if (capabilities().rounds_correctly && !is_slow_build()) {
      EXPECT_GT(tally.ratio_max, 1.0 / 50) << kernel;
      EXPECT_TRUE(tally.deep_ratio_max == 0 || tally.deep_ratio_max > 1.0 / 200) << kernel;
      EXPECT_LT(tally.unbounded_count, tally.element_count / 4) << kernel;
    }
  }
}

// The first half of the operand is `factor`, the rest -factor or, with one sign, `factor` as well.
std::string constants_in(const CaseOperand& operand, double factor, bool has_one_sign) {
  const std::string& name = operand.name;
  const std::string count = std::to_string(operand.size_bytes() / 8);
  std::string text = "memory ones_memory_" + name + " " + std::to_string(operand.size_bytes()) +
                     "\ntensor ones_" + name + " f32[" + count + "] at ones_memory_" + name +
                     "+0 = ones\n";
  for (const int half : {0, 1}) {
    const std::string view = name + "_half_" + std::to_string(half);
    text += "tensor " + view + " f32[" + count + "] view " + name + "+" +
            std::to_string(half == 0 ? 0 : operand.size_bytes() / 2) +
            "\ndispatch scale reads ones_" + name + " writes " + view +
            " factor=" + std::to_string(half == 0 || has_one_sign ? factor : -factor) + "\n";
  }
  return text;
}

// Equal terms round the same way many times over, so that nothing cancels: then errors of long sums
// come near their bounds too, and a bound that counts on cancellation fails.
TEST_P(NumbersAcrossBackends, BoundSumsWhoseRoundingsAddUp) {
  constexpr uint64_t kLength = 4096;
  for (const KernelCase& c :
       {KernelCase{"col_sum", kLength, 2}, KernelCase{"row_sum", 1, kLength},
        KernelCase{"matmul_nt", 1, 2, kLength}, KernelCase{"rms_norm", 1, kLength},
        KernelCase{"layer_norm", 1, kLength}}) {
    SCOPED_TRACE(testing::PrintToString(c));
    const bool has_one_sign = c.kernel != "layer_norm";  // It needs a variance.
    double ratio_max = 0;
    for (int i = 0; i < 8; ++i) {
      std::string preparation;
      for (const CaseOperand& operand : operands_of(c)) {
        if (!operand.is_input()) continue;
        preparation += constants_in(operand, 0.51 + 0.067 * i, has_one_sign);
      }
      ratio_max = std::max(ratio_max, judged(prepared(c, preparation)).ratio_max);
    }
    RecordProperty("equal_ratio_max_" + c.kernel, std::to_string(ratio_max));
    EXPECT_TRUE(ratio_max > 1.0 / 20 || !capabilities().rounds_correctly) << ratio_max;
  }
}

// Infinities, NaNs of both signs and with a payload, both zeros, subnormals and the largest
// numbers.
constexpr uint32_t kSpecialBits[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffffffff,
                                     0x7f800001, 0x00000000, 0x80000000, 0x00000001,
                                     0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff};

// Statements that store `bits` at element `element` of the operand.
std::string store_bits(const CaseOperand& operand, uint64_t element, uint32_t bits) {
  std::string text;
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t at = 256 + 4 * element + i;
    text += "dispatch fill writes memory_" + operand.name + "[" + std::to_string(at) + ":" +
            std::to_string(at + 1) + "] value=" + std::to_string(bits >> (8 * i) & 0xff) + "\n";
  }
  return text;
}

// Every special value in its own row of every operand that has rows; of the others in its own
// column. The last rows have none in their own operand, and show what the others do to them.
std::string special_values_in(const CaseOperand& operand, uint64_t cols, uint64_t shift) {
  std::string text;
  const uint64_t step = operand.shape.size() == 2 && operand.shape[1] == cols ? cols + 1 : 1;
  const uint64_t count = operand.size_bytes() / 4;
  for (uint64_t i = 0; i < std::size(kSpecialBits); ++i) {
    text += store_bits(operand, (i + shift) * step % count, kSpecialBits[i]);
  }
  return text;
}

// Rules for values that are not finite (docs/numbers.md): by one operand that has them, then by all
// at once, where they meet: infinity minus infinity, zero times infinity.
TEST_P(NumbersAcrossBackends, HaveTheSpecialValuesOfIeee754) {
  for (const KernelCase& c : one_case_per_kernel()) {
    SCOPED_TRACE(testing::PrintToString(c));
    std::vector<std::string> preparations = {""};
    uint64_t shift = 0;
    for (const CaseOperand& operand : operands_of(c)) {
      if (!operand.is_input()) continue;
      preparations.push_back(special_values_in(operand, c.cols, 0));
      preparations.front() += special_values_in(operand, c.cols, shift);
      shift += 5;
    }
    Tally tally;
    for (const std::string& preparation : preparations) {
      const OracleCheck check = judged(prepared(c, preparation));
      tally.element_count += check.element_count;
      tally.special_count += check.special_count;
      tally.unbounded_count += check.unbounded_count;
    }
    if (capabilities().rounds_correctly && find_kernel_oracle(c.kernel) != nullptr) {
      EXPECT_GT(tally.special_count, 4u);
      EXPECT_LT(tally.unbounded_count, tally.element_count / 4);
    }
  }
}

// Unaligned ranges, all modes, all operations, partial writes.
TEST_P(NumbersAcrossBackends, HaveTheBytesOfMixThatTheCpuHas) {
  std::mt19937 generator(1);
  const auto range = [&] {
    const uint64_t begin = generator() % 40;
    return "[" + std::to_string(begin) + ":" + std::to_string(begin + generator() % 200) + "]";
  };
  for (int i = 0; i < 60; ++i) {
    std::string text = "interlock 1\n";
    for (const char* name : {"u", "r", "w", "m", "a"}) {
      text += std::string("memory ") + name + " 256\n";
    }
    const PreparedCase c = {
        parsed(text),
        parsed(text + "mix: dispatch Mix uniform u" + range() + " reads r" + range() + " writes w" +
               range() + " updates m" + range() + " atomics a" + range() +
               (i % 3 == 0 ? " partial" : "") + " atomic=" + kAtomicWords[i % 6] + "\n")};
    SCOPED_TRACE(print(c.program));
    const OracleCheck check = judged(c);
    EXPECT_EQ(check.exact_count, check.element_count);
  }
}

}  // namespace
}  // namespace interlock::numbers_across_backends_test
