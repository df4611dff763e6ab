// CUDA's words for a compiler of the host, as EmulatedDevice (device.h) understands them.
//
// The macros are for sources of device code, and for them alone: no other header may include this.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>

#include "backends/cuda/emulation/device.h"
#include "encoder/program/result.h"
#include "simulator/schedules/choice.h"

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): CUDA's names.

#define __global__
#define __device__
#define __shared__ __thread

namespace interlock {
inline namespace emulated {

using uint3 = Index3;
using dim3 = Extent3;

// Of the thread of CUDA that runs now.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;

constexpr BarrierPlace barrier_place(const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) {
  return {file, line};
}

// Waits for all threads of the block. Requires: runs inside a launch.
void __syncthreads(BarrierPlace place = barrier_place());

// Return the old value. Requires: as __syncthreads().
unsigned int atomicAdd(unsigned int* word, unsigned int value);
unsigned int atomicCAS(unsigned int* word, unsigned int expected, unsigned int desired);

// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

// kernel<<<shape.grid, shape.block, shape.shared_bytes>>>(arguments...)
template <class... Parameters>
Result<std::optional<LaunchFinding>> launch_kernel(
    EmulatedDevice& device, Choice& choice, const LaunchShape& shape, void (*kernel)(Parameters...),
    const std::type_identity_t<Parameters>&... arguments) {
  return device.launch(shape, choice, [&] { kernel(arguments...); });
}

// The same, with what is called between blocks.
template <class Parameter>
Result<std::optional<LaunchFinding>> launch_kernel_in_turns(
    EmulatedDevice& device, Choice& choice, const LaunchShape& shape, void (*kernel)(Parameter),
    const Parameter& argument, const std::function<void()>& between_blocks) {
  return device.launch(
      shape, choice, [&] { kernel(argument); }, between_blocks);
}

}  // namespace emulated
}  // namespace interlock
