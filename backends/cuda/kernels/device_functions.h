// The kernels as nvcc compiled them, for the host code that launches them.
#pragma once

#include <span>

namespace interlock {

// Addresses as cudaLaunchKernel takes them.
struct DeviceFunctions {
  std::span<const void* const> run_slices;  // By KernelId.
  const void* digest_mix = nullptr;
  const void* apply_mix = nullptr;
  const void* commit_atomics = nullptr;
  const void* delay = nullptr;  // (uint64_t nanoseconds)
};

const DeviceFunctions& device_functions();

}  // namespace interlock
