// Every kernel on the Vulkan device: against the CPU bit for bit where the device rounds as the CPU
// does, against the float64 oracles everywhere; at any alignment, in place, and piece by piece.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "backends/reference/oracle_check.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/text/text.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/vulkan_device.h"

namespace interlock::vulkan_kernels_test {
namespace {

using VulkanKernels = OnVulkan;

TEST_F(VulkanKernels, HaveTheBitsOfTheCpu) {
  if (!has_correct_rounding()) GTEST_SKIP() << "the device may round otherwise than the CPU";
  for (const KernelCase& c : all_cases()) {
    const Program program = program_of(c);
    const Schedule issue = issue_order_schedule(program);
    EXPECT_TRUE(image_on_vulkan(program, issue) == image_after(program, issue)) << c;
  }
}

TEST_F(VulkanKernels, AgreeWithTheirOracles) {
  for (const KernelCase& c : all_cases()) {
    const Program program = program_of(c);
    const auto check = check_against_oracle(program, DispatchId{0},
                                            initial_image(program, kExecutionLimitBytes).value(),
                                            image_on_vulkan(program, issue_order_schedule(program)),
                                            arithmetic_of(vulkan().capabilities()));
    ASSERT_TRUE(check.has_value());
    EXPECT_FALSE(check->mismatch.has_value()) << c << "\n" << check->mismatch->message;
  }
}

// The text of a case with every tensor `shift` bytes further.
// Requires: whole elements.
Program shifted(const KernelCase& c, int shift) {
  std::string text = print(program_of(c));
  for (size_t at = text.find("+256"); at != std::string::npos; at = text.find("+256", at + 1)) {
    text.replace(at, 4, "+" + std::to_string(256 + shift));
  }
  return parsed(text);
}

TEST_F(VulkanKernels, RunAtAnyAlignment) {
  for (const KernelCase& c : one_case_per_kernel()) {
    for (const int shift : {4, 8, 20}) {
      const Program program = shifted(c, shift);
      const Schedule issue = issue_order_schedule(program);
      const MemoryImage image = image_on_vulkan(program, issue);
      const MemoryImage aligned =
          image_on_vulkan(program_of(c), issue_order_schedule(program_of(c)));
      for (const CaseOperand& operand : operands_of(c)) {
        EXPECT_EQ(bytes_of(program, image, operand.name),
                  bytes_of(program_of(c), aligned, operand.name))
            << c << " shifted by " << shift;
      }
      if (has_correct_rounding()) {
        EXPECT_TRUE(image == image_after(program, issue)) << c;
      }
    }
  }
}

TEST_F(VulkanKernels, RunInPlaceWhereTheTableAllowsIt) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const std::vector<CaseOperand> operands = operands_of(c);
    for (const auto& [input, output] :
         kernel_entry(find_kernel(c.kernel).value()).identical_pairs) {
      const std::string& replaced = operands[static_cast<size_t>(input)].name;
      const std::string& name = operands[static_cast<size_t>(output)].name;
      const SharedPlaces shared = {{name, {replaced, 0}}};
      const Program program = program_of(c, shared);
      const Program other = program_apart(c, shared);
      const MemoryImage apart = image_on_vulkan(other, issue_order_schedule(other));
      for (const Schedule& schedule :
           {issue_order_schedule(program), slices_in_order(shuffled_slices(program, 1))}) {
        const MemoryImage image = image_on_vulkan(program, schedule);
        EXPECT_EQ(bytes_of(program, image, name), bytes_of(other, apart, name))
            << c << ": " << name << " on " << replaced;
      }
    }
  }
}

// Each pass finds in memory what the one before has left, also where that was an input: wrong, and
// with the bits that are wrong on the CPU.
TEST_F(VulkanKernels, StreamOverInputsThatTheyStillNeed) {
  for (const auto& [kernel, input] :
       {std::pair{"softmax_vjp_stream", "y"}, std::pair{"rms_norm_vjp_stream", "g"}}) {
    const KernelCase c{kernel, 13, 41};
    const Program apart = program_of(c);
    const Program program = program_of(c, {{"gx", {input, 0}}});
    const MemoryImage right = image_on_vulkan(apart, issue_order_schedule(apart));
    for (const Schedule& schedule :
         {issue_order_schedule(program), slices_in_order(shuffled_slices(program, 1))}) {
      const MemoryImage wrong = image_on_vulkan(program, schedule);
      EXPECT_NE(bytes_of(program, wrong, "gx"), bytes_of(apart, right, "gx")) << kernel;
      if (has_correct_rounding()) {
        EXPECT_TRUE(wrong == image_after(program, schedule)) << kernel;
      }
    }
  }
}

TEST_F(VulkanKernels, GiveTheSameBitsInPieces) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const Program program = program_of(c);
    const MemoryImage whole = image_on_vulkan(program, issue_order_schedule(program));
    EXPECT_TRUE(image_on_vulkan(program, slices_in_order(descending_slices(program))) == whole)
        << c;
    EXPECT_TRUE(image_on_vulkan(program, slices_in_order(shuffled_slices(program, 1))) == whole)
        << c;
  }
}

// lavapipe ends the loops of an invocation silently after 65,535 rounds.
TEST_F(VulkanKernels, RunTheLongestLoopsThatTheTableAllows) {
  const Program program = parsed(R"(interlock 1
memory tall_bytes 786420
memory sums_bytes 64
memory wide_bytes 262140
memory w_bytes 262140
memory y_bytes 262140
memory rows_bytes 262140
tensor tall f32[65535,3] at tall_bytes+0 = random(1)
tensor sums f32[3] at sums_bytes+0
tensor wide f32[1,65535] at wide_bytes+0 = random(2)
tensor column f32[65535,1] at wide_bytes+0
tensor w f32[65535] at w_bytes+0 = random(3)
tensor y f32[1,65535] at y_bytes+0
tensor rows f32[1,65535] at rows_bytes+0
tensor product f32[1,1] at sums_bytes+32
memory p_bytes 262140
memory gx_bytes 262140
tensor p f32[1,65535] at p_bytes+0
tensor gx f32[1,65535] at gx_bytes+0
memory more_bytes 96
memory norm_bytes 262140
memory copied_bytes 262140
tensor norm f32[1,65535] at norm_bytes+0
tensor copied f32[1,65535] at copied_bytes+0
tensor wide_again f32[65535] at wide_bytes+0
tensor product_t f32[1,1] at more_bytes+0
tensor product_n f32[1,1] at more_bytes+32
tensor total f32[1] at more_bytes+64
tensor total_again f32[1] at more_bytes+0
memory ids_bytes 262140
memory turned_bytes 262140
tensor ids i32[65535] at ids_bytes+0 = iota
tensor id i32[1] view ids+65528
tensor wide_pairs f32[1,65534] at wide_bytes+0
tensor turned f32[1,65534] at turned_bytes+0
memory flipped_bytes 786420
memory stream_bytes 262140
memory gw_bytes 262140
tensor flipped f32[3,65535] at flipped_bytes+0
tensor stream f32[1,65535] at stream_bytes+0
tensor gw f32[1,65535] at gw_bytes+0
dispatch transpose reads tall writes flipped
dispatch rms_norm_vjp_stream reads wide w wide writes stream gw
dispatch col_sum reads tall writes sums
dispatch matmul_nn reads wide column writes product
dispatch layer_norm_vjp reads wide w wide writes y rows eps=1e-05
dispatch softmax reads wide writes p
dispatch matmul_nt reads wide wide writes product_t
dispatch matmul_tn reads column column writes product_n
dispatch row_sum reads wide writes total
dispatch layer_norm reads wide w w writes norm eps=1e-05
dispatch col_sum_vjp reads wide_again writes copied
barrier
dispatch rms_norm_vjp reads wide w wide writes y rows eps=1e-05
dispatch rms_norm reads wide w writes norm eps=1e-05
dispatch row_sum_vjp reads total writes copied
dispatch softmax_vjp reads p wide writes gx
dispatch softmax_vjp_stream reads p wide writes stream
barrier
dispatch embedding reads id wide writes norm
dispatch embedding_vjp reads ids column writes product
dispatch rope reads wide_pairs writes turned base=100
dispatch cross_entropy reads wide id writes total
dispatch cross_entropy_vjp reads wide id total_again writes gx
)");
  const Schedule issue = issue_order_schedule(program);
  const MemoryImage image = image_on_vulkan(program, issue);
  if (has_correct_rounding()) {
    EXPECT_TRUE(image == image_after(program, issue));
  }
}

// Infinities and NaNs come out as on the CPU; every NaN is the canonical one. The rows of softmax
// are: NaN and a large number; a large number and infinity; twice minus infinity; and that with 1.
TEST_F(VulkanKernels, TreatSpecialValuesAsTheCpuDoes) {
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
  const Schedule issue = issue_order_schedule(program);
  const MemoryImage image = image_on_vulkan(program, issue);
  const MemoryImage expected = image_after(program, issue);
  for (size_t i = 0; i < expected.memories.size(); ++i) {
    EXPECT_EQ(image.memories[i], expected.memories[i]) << i;
  }
  EXPECT_TRUE(std::isnan(values_of(program, image, "y")[0]));
  const std::vector<float> p = values_of(program, image, "p");
  for (size_t i = 0; i < 6; ++i) EXPECT_TRUE(std::isnan(p[i])) << i;
  EXPECT_EQ(p[6], 0);
  EXPECT_EQ(p[7], 1);
}

}  // namespace
}  // namespace interlock::vulkan_kernels_test
