// The kernels that a host launches. Templates, so that each source that uses them has its own.
//
// This folder is device code: compiled by nvcc (device_functions.cu), and for the emulated device.
//
// A dispatch of a table kernel is one launch of run_slices<Kernel>, a block per slice; so is mix
// where one block is enough. Larger operands of mix take two launches, the second ordered after
// the first: digest_mix<MixKernel> adds up what each thread of a grid read, apply_mix<MixKernel>
// writes. They give the same bits, since sums of integers have no order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/cuda/kernels/device_lane.h"
#include "backends/cuda/kernels/device_memory.h"
#include "backends/cuda/kernels/device_words.h"
#include "backends/cuda/kernels/launch_arguments.h"
#include "backends/kernels/mix.h"

namespace interlock {
inline namespace DEVICE_CODE {

// Slices from arguments.first_slice on, as many as the grid has blocks.
// Launch: grid {blocks}, block {threads}, kSliceSharedBytes of shared memory.
template <class Kernel>
__global__ void run_slices(LaunchArguments arguments) {
  const DeviceLane lane;
  const uint64_t slice = arguments.first_slice + blockIdx.x;
  if constexpr (std::is_same_v<Kernel, MixKernel>) {
    DeviceMemory memory(arguments.operands);
    Kernel::run(lane, memory, arguments.params, slice);
  } else {
    // In registers: a store of the body might otherwise change any of them, for all nvcc knows.
    LaunchOperand operands[kTableOperandCountMax];
    for (uint32_t i = 0; i < kTableOperandCountMax; ++i) {
      if (i < arguments.operand_count) operands[i] = arguments.operands[i];
    }
    DeviceMemory memory(operands);
    Kernel::run(lane, memory, arguments.params, slice);
  }
}

// Adds the digest of the operands to *arguments.mix_digest, which has to be 0 before.
// Launch: any grid {blocks}, any block {threads}, no shared memory.
template <class Mix>
__global__ void digest_mix(LaunchArguments arguments) {
  const DeviceMemory memory(arguments.operands);
  const uint32_t own = Mix::own_digest(GridLane{}, memory, arguments.params);
  atomicAdd(arguments.mix_digest, own);
}

// Writes the operands. Launch: as digest_mix(), after it.
template <class Mix>
__global__ void apply_mix(LaunchArguments arguments) {
  const DeviceMemory memory(arguments.operands);
  Mix::apply(GridLane{}, memory, arguments.params, *arguments.mix_digest);
}

// Commits late atomics: applies the staged operand bytes to memory.
// Launch: as digest_mix().
template <class Commit>
__global__ void commit_atomics(Commit arguments) {
  const GridLane lane;
  for (uint64_t i = lane.index(); i < arguments.size_bytes; i += lane.count()) {
    update_byte(arguments.memory + i, arguments.op, arguments.staged[i]);
  }
}

}  // namespace DEVICE_CODE
}  // namespace interlock
