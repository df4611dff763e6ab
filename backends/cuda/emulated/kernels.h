// The kernels of device_kernels.h, compiled for EmulatedDevice, for code that knows no words of
// CUDA.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "backends/cuda/cuda_runtime.h"
#include "backends/cuda/emulation/device.h"
#include "backends/cuda/kernels/launch_arguments.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/result.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Where and how kernels are launched; the calls below return and fail as EmulatedDevice::launch().
struct EmulatedLaunches {
  EmulatedDevice& device;
  Choice& choice;
  uint32_t block_thread_count = kBlockThreadCount;
};

using LaunchResult = Result<std::optional<LaunchFinding>>;

// run_slices of the kernel, on `slice_count` slices from arguments.first_slice on.
LaunchResult launch_slices(const EmulatedLaunches& launches, KernelId kernel, uint32_t slice_count,
                           const LaunchArguments& arguments);

// mix in two launches, digest_mix and apply_mix, each of `block_count` blocks.
LaunchResult launch_mix_phases(const EmulatedLaunches& launches, uint32_t block_count,
                               LaunchArguments arguments);

LaunchResult launch_commit(const EmulatedLaunches& launches, uint32_t block_count,
                           const CommitArguments& arguments);

// A launch of the CUDA backend, blocks and threads in an order of the choice; delays take no time.
// `between_blocks` is called before every block but the first.
LaunchResult launch_in_turns(const EmulatedLaunches& launches, const DeviceLaunch& launch,
                             const std::function<void()>& between_blocks);

}  // namespace interlock
