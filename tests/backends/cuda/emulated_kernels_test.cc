// Every kernel in CUDA's words, emulated: the bits of the CPU for every size and order of blocks.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/emulated/kernels.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/guarded_buffer.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "simulator/schedules/choice.h"
#include "tests/backends/cuda/emulated_cuda.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"

namespace interlock::emulated_kernels_test {
namespace {

TEST(EmulatedKernels, HaveTheBitsOfTheCpuForEveryBlockSizeAndOrder) {
  for (const uint32_t thread_count : {1u, 2u, 32u, 33u, 128u}) {
    for (const uint64_t seed : {1u, 2u}) {
      // Blocks of one size in another order, too.
      if (seed == 2 && (is_slow_build() || thread_count != 33)) continue;
      if (is_slow_build() && (thread_count == 2 || thread_count > 33)) continue;
      EmulatedCudaBackend backend({.seed = seed, .block_thread_count = thread_count});
      for (const KernelCase& c : all_cases()) {
        const Program program = program_of(c);
        const Schedule issue = reference_order_schedule(program);
        EXPECT_TRUE(image_on(backend, program, issue) == image_after(program, issue))
            << c << " in blocks of " << thread_count << ", seed " << seed;
      }
    }
  }
}

TEST(EmulatedKernels, HaveTheBitsOfTheCpuWithEveryKindOfSwitch) {
  for (const FiberSwitch kind : fiber_switches()) {
    EmulatedCudaBackend backend({.block_thread_count = 32, .fiber_switch = kind});
    for (const KernelCase& c : one_case_per_kernel()) {
      const Program program = program_of(c);
      const Schedule issue = reference_order_schedule(program);
      EXPECT_TRUE(image_on(backend, program, issue) == image_after(program, issue)) << c;
    }
  }
}

// The outputs of the only dispatch of `program`, whose operands start `shift` bytes into a word.
std::vector<std::vector<uint8_t>> outputs_when_shifted(const Program& program, size_t shift) {
  const MemoryImage image = initial_image(program, kExecutionLimitBytes).value();
  const DispatchId id{0};
  std::vector<GuardedBuffer> bytes;
  std::vector<LaunchOperand> operands;
  for (const Access& access : program.accesses_of(id)) {
    std::vector<uint8_t> memory(shift);
    const auto begin = image.memories[access.memory.index].begin();
    memory.insert(memory.end(), begin + static_cast<ptrdiff_t>(access.range.begin),
                  begin + static_cast<ptrdiff_t>(access.range.end));
    bytes.emplace_back(std::move(memory));
    operands.push_back(
        {bytes.back().data() + shift, access.range.size_bytes(), access.mode, false});
  }
  LaunchArguments arguments;
  arguments.operands = operands.data();
  arguments.operand_count = static_cast<uint32_t>(operands.size());
  arguments.params = dispatch_params_of(program, id);
  EmulatedDevice device;
  SeededChoice choice(shift);
  const auto launched = launch_slices(
      {device, choice, 32}, program.dispatch(id).kernel,
      static_cast<uint32_t>(slice_count_of(program, program.dispatch(id))), arguments);
  EXPECT_TRUE(launched.has_value() && !launched->has_value());
  std::vector<std::vector<uint8_t>> outputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    EXPECT_EQ(bytes[i].stray_offset(), std::nullopt);
    if (operands[i].mode == AccessMode::kRead) continue;
    outputs.emplace_back(operands[i].data, operands[i].data + operands[i].size_bytes);
  }
  return outputs;
}

// A program has its f32 at multiples of four bytes; a device whose memories start elsewhere has
// not.
TEST(EmulatedKernels, RunAtAnyAlignment) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const Program program = program_of(c);
    const MemoryImage image = image_after(program, reference_order_schedule(program));
    std::vector<std::vector<uint8_t>> expected;
    for (const CaseOperand& operand : operands_of(c)) {
      if (operand.is_output) expected.push_back(bytes_of(program, image, operand.name));
    }
    for (const size_t shift : {0u, 1u, 2u, 3u}) {
      EXPECT_EQ(outputs_when_shifted(program, shift), expected) << c << " shifted by " << shift;
    }
  }
}

// As a device does whose grids are shorter than a dispatch.
TEST(EmulatedKernels, GiveTheSameBitsInSeveralLaunches) {
  EmulatedCudaBackend backend({.block_thread_count = 4, .grid_block_count_max = 2});
  for (const KernelCase& c : all_cases()) {
    const Program program = program_of(c);
    const Schedule issue = reference_order_schedule(program);
    EXPECT_TRUE(image_on(backend, program, issue) == image_after(program, issue)) << c;
  }
}

}  // namespace
}  // namespace interlock::emulated_kernels_test
