// Every kernel on every device: the bits of the CPU where the device rounds as the CPU does, and
// within the bounds of the float64 oracles everywhere; at any alignment, in place, in pieces, late.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "backends/reference/oracle_check.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/text/printer.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/devices/test_device.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::kernels_on_devices_test {
namespace {

class KernelsOnDevices : public OnDevices {
 protected:
  static std::vector<KernelCase> cases() {
    return GetParam().is_slow ? one_case_per_kernel() : all_cases();
  }

  void expect_the_bits_of_the_cpu_if_rounded(const Program& program,
                                             const Schedule& schedule) const {
    if (rounds_correctly()) expect_the_bits_of_the_cpu(program, schedule);
  }
};

INTERLOCK_ON_DEVICES(KernelsOnDevices);

TEST_P(KernelsOnDevices, HaveTheBitsOfTheCpu) {
  if (!rounds_correctly()) GTEST_SKIP() << "the device may round otherwise than the CPU";
  for (const KernelCase& c : cases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    const Program program = program_of(c);
    expect_the_bits_of_the_cpu(program, reference_order_schedule(program));
  }
}

TEST_P(KernelsOnDevices, AgreeWithTheirOracles) {
  for (const KernelCase& c : cases()) {
    const Program program = program_of(c);
    const auto check = check_against_oracle(
        program, DispatchId{0}, initial_image(program, kExecutionLimitBytes).value(),
        image_on_device(program), arithmetic_of(device().capabilities()));
    ASSERT_TRUE(check.has_value());
    EXPECT_FALSE(check->mismatch.has_value()) << c << "\n" << check->mismatch->message;
  }
}

// The case with every tensor `shift` bytes further. Requires: whole elements.
Program shifted(const KernelCase& c, int shift) {
  std::string text = print(program_of(c));
  for (size_t at = text.find("+256"); at != std::string::npos; at = text.find("+256", at + 1)) {
    text.replace(at, 4, "+" + std::to_string(256 + shift));
  }
  return parsed(text);
}

TEST_P(KernelsOnDevices, RunAtAnyAlignmentOfTheirElements) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const Program aligned = program_of(c);
    const MemoryImage expected = image_on_device(aligned);
    for (const int shift : {4, 8, 12, 20, 124}) {
      SCOPED_TRACE(fmt::format("{} shifted by {}", testing::PrintToString(c), shift));
      const Program program = shifted(c, shift);
      const MemoryImage image = image_on_device(program);
      for (const CaseOperand& operand : operands_of(c)) {
        EXPECT_EQ(bytes_of(program, image, operand.name),
                  bytes_of(aligned, expected, operand.name));
      }
      expect_the_bits_of_the_cpu_if_rounded(program, reference_order_schedule(program));
    }
  }
}

TEST_P(KernelsOnDevices, CopyAndFillAnyBytes) {
  for (const int from : {0, 1, 2, 3}) {
    for (const int to : {0, 1, 2, 3}) {
      const Program program = parsed(fmt::format(R"(interlock 1
memory a 9000
memory b 9000
dispatch copy reads a[{0}:{1}] writes b[{2}:{3}]
dispatch fill writes a[{2}:{3}] value=77
)",
                                                 from, from + 8885, to, to + 8885));
      expect_the_bits_of_the_cpu(program, reference_order_schedule(program));
      expect_the_bits_of_the_cpu(program, lazy_schedule(program, HappensBefore(program)));
    }
  }
}

TEST_P(KernelsOnDevices, RunInPlaceWhereTheTableAllowsIt) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const std::vector<CaseOperand> operands = operands_of(c);
    for (const auto& [input, output] :
         kernel_entry(find_kernel(c.kernel).value()).identical_pairs) {
      const std::string& replaced = operands[static_cast<size_t>(input)].name;
      const std::string& name = operands[static_cast<size_t>(output)].name;
      SCOPED_TRACE(fmt::format("{}: {} on {}", testing::PrintToString(c), name, replaced));
      const SharedPlaces shared = {{name, {replaced, 0}}};
      const Program program = program_of(c, shared);
      const Program other = program_apart(c, shared);
      const MemoryImage apart = image_on_device(other);
      for (const Schedule& schedule :
           {reference_order_schedule(program), slices_in_order(shuffled_slices(program, 1))}) {
        EXPECT_EQ(bytes_of(program, image_on_device(program, schedule), name),
                  bytes_of(other, apart, name));
        expect_the_bits_of_the_cpu_if_rounded(program, schedule);
      }
    }
  }
}

// Each pass finds in memory what the one before has left, also where that was an input: wrong, and
// with the bits that are wrong on the CPU.
TEST_P(KernelsOnDevices, StreamOverInputsThatTheyStillNeed) {
  for (const auto& [kernel, input] :
       {std::pair{"softmax_vjp_stream", "y"}, std::pair{"rms_norm_vjp_stream", "g"}}) {
    const KernelCase c{kernel, 13, 41};
    const Program apart = program_of(c);
    const Program program = program_of(c, {{"gx", {input, 0}}});
    const MemoryImage right = image_on_device(apart);
    for (const Schedule& schedule :
         {reference_order_schedule(program), slices_in_order(shuffled_slices(program, 1))}) {
      EXPECT_NE(bytes_of(program, image_on_device(program, schedule), "gx"),
                bytes_of(apart, right, "gx"))
          << kernel;
      expect_the_bits_of_the_cpu_if_rounded(program, schedule);
    }
  }
}

TEST_P(KernelsOnDevices, GiveTheSameBitsInPieces) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const Program program = program_of(c);
    const MemoryImage whole = image_on_device(program);
    for (const std::vector<uint64_t>& slices :
         {descending_slices(program), shuffled_slices(program, 1)}) {
      EXPECT_TRUE(image_on_device(program, slices_in_order(slices)) == whole) << c;
    }
  }
}

// Late pieces write to staging copies, and no byte between their rows changes.
TEST_P(KernelsOnDevices, CommitLatePiecesRowByRow) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const Program program = program_of(c);
    Schedule late = slices_in_order(shuffled_slices(program, 2));
    for (Step& step : late.steps) step.kind = StepKind::kRunLate;
    late.steps.push_back(whole_step(program, DispatchId(0), StepKind::kCommit));
    EXPECT_TRUE(image_on_device(program, late) == image_on_device(program)) << c;
  }
}

// Infinities and NaNs come out as on the CPU; every NaN is the canonical one. The rows of softmax
// are: NaN and a large number; a large number and infinity; twice minus infinity; and that with 1.
TEST_P(KernelsOnDevices, TreatSpecialValuesAsTheCpuDoes) {
  const Program program = parsed(R"(interlock 1
memory bits 64
memory a_bytes 32
memory y_bytes 32
memory z_bytes 32
memory p_bytes 32
memory gx_bytes 32
tensor pairs f32[4,2] at a_bytes+0
tensor p f32[4,2] at p_bytes+0
tensor gx f32[4,2] at gx_bytes+0
tensor sx f32[8] at bits+32
tensor sign u8[4] at a_bytes+0
tensor a f32[8] at a_bytes+0
tensor y f32[8] at y_bytes+0
tensor z f32[8] at z_bytes+0
dispatch fill writes a_bytes[0:4] value=255
dispatch fill writes a_bytes[4:8] value=127
dispatch fill writes a_bytes[10:12] value=127
dispatch fill writes a_bytes[8:10] value=0
dispatch fill writes a_bytes[12:14] value=0
dispatch fill writes a_bytes[14:15] value=128
dispatch fill writes a_bytes[15:16] value=127
dispatch fill writes a_bytes[16:18] value=0
dispatch fill writes a_bytes[18:19] value=128
dispatch fill writes a_bytes[19:20] value=255
dispatch fill writes a_bytes[20:22] value=0
dispatch fill writes a_bytes[22:23] value=128
dispatch fill writes a_bytes[23:24] value=255
dispatch fill writes a_bytes[24:26] value=0
dispatch fill writes a_bytes[26:27] value=128
dispatch fill writes a_bytes[27:28] value=255
dispatch fill writes a_bytes[28:30] value=0
dispatch fill writes a_bytes[30:31] value=128
dispatch fill writes a_bytes[31:32] value=63
barrier
dispatch silu reads a writes y
dispatch mul reads a a writes z
dispatch silu_vjp reads a a writes sx
dispatch softmax reads pairs writes p
barrier
dispatch softmax_vjp reads p pairs writes gx
)");
  const Schedule issue = reference_order_schedule(program);
  const MemoryImage image = image_on_device(program);
  EXPECT_EQ(image.memories, image_after(program, issue).memories);
  EXPECT_TRUE(std::isnan(values_of(program, image, "y")[0]));
  const std::vector<float> p = values_of(program, image, "p");
  for (size_t i = 0; i < 6; ++i) EXPECT_TRUE(std::isnan(p[i])) << i;
  EXPECT_EQ(p[6], 0);
  EXPECT_EQ(p[7], 1);
}

TEST_P(KernelsOnDevices, TreatTheSmallestSubnormalAsTheCpuDoes) {
  const Program program = parsed(R"(interlock 1
memory a_bytes 32
memory y_bytes 32
memory z_bytes 32
tensor a f32[8] at a_bytes+0
tensor y f32[8] at y_bytes+0
tensor z f32[8] at z_bytes+0
dispatch fill writes a_bytes[12:16] value=0
dispatch fill writes a_bytes[12:13] value=1
barrier
dispatch silu reads a writes y
dispatch mul reads a a writes z
)");
  expect_the_bits_of_the_cpu_if_rounded(program, reference_order_schedule(program));
}

}  // namespace
}  // namespace interlock::kernels_on_devices_test
