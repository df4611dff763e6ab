// All device code of the backend, instantiated: one function per kernel.
#include "backends/cuda/kernels/device_functions.h"

#include <cstdint>
#include <vector>

#include "backends/cuda/kernels/device_kernels.h"
#include "backends/kernels/all_kernels.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {
namespace {

// Bounded twice, or a timer that stands still would hang the device.
__global__ void delay(uint64_t delay_ns) {
  constexpr uint64_t kRoundsMax = 1ull << 24;
  uint64_t begin;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  for (uint64_t i = 0; i < kRoundsMax; ++i) {
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (now - begin >= delay_ns) return;
    __nanosleep(100);
  }
}

std::vector<const void*> slice_functions() {
  std::vector<const void*> functions(kernel_table().size());
  for_each_kernel([&]<class Kernel>(KernelId id) {
    functions[id.index] = reinterpret_cast<const void*>(&run_slices<Kernel>);
  });
  return functions;
}

}  // namespace

const DeviceFunctions& device_functions() {
  static const std::vector<const void*> run_slices = slice_functions();
  static const DeviceFunctions functions = {
      run_slices,
      reinterpret_cast<const void*>(&digest_mix<MixKernel>),
      reinterpret_cast<const void*>(&apply_mix<MixKernel>),
      reinterpret_cast<const void*>(&commit_atomics<CommitArguments>),
      reinterpret_cast<const void*>(&delay),
  };
  return functions;
}

}  // namespace interlock
