// Kernels on the Vulkan device at the longest loops; the rest is in tests/backends/devices/.
#include <gtest/gtest.h>

#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/vulkan_device.h"

namespace interlock::vulkan_kernels_test {
namespace {

using VulkanKernels = OnVulkan;

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
  const Schedule issue = reference_order_schedule(program);
  const MemoryImage image = image_on_vulkan(program, issue);
  if (has_correct_rounding()) {
    EXPECT_TRUE(image == image_after(program, issue));
  }
}

}  // namespace
}  // namespace interlock::vulkan_kernels_test
