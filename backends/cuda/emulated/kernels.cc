// The only source that compiles all device code for the host.
#include "backends/cuda/emulated/kernels.h"

#include <vector>

#include "backends/cuda/emulation/words.h"
#include "backends/cuda/kernels/device_kernels.h"
#include "backends/kernels/all_kernels.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

using SlicesKernel = void (*)(LaunchArguments);

std::vector<SlicesKernel> make_slices_kernels() {
  std::vector<SlicesKernel> kernels(kernel_table().size());
  for_each_kernel([&]<class Kernel>(KernelId id) { kernels[id.index] = run_slices<Kernel>; });
  for (const SlicesKernel kernel : kernels) INTERLOCK_CHECK(kernel != nullptr);
  for (const KernelEntry& entry : kernel_table()) {
    INTERLOCK_CHECK(entry.operands.size() <= kTableOperandCountMax);
  }
  return kernels;
}

SlicesKernel slices_kernel(KernelId kernel) {
  static const std::vector<SlicesKernel> kKernels = make_slices_kernels();
  return kKernels[kernel.index];
}

LaunchShape grid_of(const EmulatedLaunches& launches, uint32_t block_count) {
  return {
      .grid = {block_count, 1, 1}, .block = {launches.block_thread_count, 1, 1}, .shared_bytes = 0};
}

}  // namespace

LaunchResult launch_slices(const EmulatedLaunches& launches, KernelId kernel, uint32_t slice_count,
                           const LaunchArguments& arguments) {
  LaunchShape shape = grid_of(launches, slice_count);
  shape.shared_bytes = kSliceSharedBytes;
  return launch_kernel(launches.device, launches.choice, shape, slices_kernel(kernel), arguments);
}

LaunchResult launch_mix_phases(const EmulatedLaunches& launches, uint32_t block_count,
                               LaunchArguments arguments) {
  uint32_t digest = 0;
  arguments.mix_digest = &digest;
  const LaunchShape shape = grid_of(launches, block_count);
  auto digested =
      launch_kernel(launches.device, launches.choice, shape, digest_mix<MixKernel>, arguments);
  if (!digested || *digested) return digested;
  return launch_kernel(launches.device, launches.choice, shape, apply_mix<MixKernel>, arguments);
}

LaunchResult launch_commit(const EmulatedLaunches& launches, uint32_t block_count,
                           const CommitArguments& arguments) {
  return launch_kernel(launches.device, launches.choice, grid_of(launches, block_count),
                       commit_atomics<CommitArguments>, arguments);
}

LaunchResult launch_in_turns(const EmulatedLaunches& launches, const DeviceLaunch& launch,
                             const std::function<void()>& between_blocks) {
  LaunchShape shape = grid_of(launches, launch.block_count);
  const auto run = [&](auto kernel, const auto& argument) {
    return launch_kernel_in_turns(launches.device, launches.choice, shape, kernel, argument,
                                  between_blocks);
  };
  switch (launch.function) {
    case DeviceFunction::kRunSlices:
      shape.shared_bytes = kSliceSharedBytes;
      return run(slices_kernel(launch.kernel), launch.arguments);
    case DeviceFunction::kDigestMix:
      return run(digest_mix<MixKernel>, launch.arguments);
    case DeviceFunction::kApplyMix:
      return run(apply_mix<MixKernel>, launch.arguments);
    case DeviceFunction::kCommitAtomics:
      return run(commit_atomics<CommitArguments>, launch.commit);
    case DeviceFunction::kDelay:
      break;
  }
  return std::optional<LaunchFinding>();
}

}  // namespace interlock
