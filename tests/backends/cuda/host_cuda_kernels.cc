#include "tests/backends/cuda/host_cuda_kernels.h"

#include <algorithm>
#include <vector>

#include "backends/cuda/emulation/words.h"
#include "backends/cuda/kernels/device_kernels.h"
#include "backends/kernels/all_kernels.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

// Fewer threads than a device has: a fiber each.
constexpr uint32_t kThreadCountMax = 4;

using SlicesKernel = void (*)(LaunchArguments);

const std::vector<SlicesKernel>& slices_kernels() {
  static const std::vector<SlicesKernel> kernels = [] {
    std::vector<SlicesKernel> made(kernel_table().size());
    for_each_kernel([&]<class Kernel>(KernelId id) { made[id.index] = run_slices<Kernel>; });
    return made;
  }();
  return kernels;
}

}  // namespace

void launch_on_host(EmulatedDevice& device, Choice& choice, const DeviceLaunch& launch) {
  LaunchShape shape;
  shape.grid.x = launch.block_count;
  shape.block.x = std::min(launch.thread_count, kThreadCountMax);
  const auto run = [&](auto kernel, const auto& arguments) {
    const auto launched = launch_kernel(device, choice, shape, kernel, arguments);
    INTERLOCK_CHECK(launched.has_value() && !launched.value().has_value());
  };
  switch (launch.function) {
    case DeviceFunction::kRunSlices:
      shape.shared_bytes = kSliceSharedBytes;
      run(slices_kernels()[launch.kernel.index], launch.arguments);
      break;
    case DeviceFunction::kDigestMix:
      run(digest_mix<MixKernel>, launch.arguments);
      break;
    case DeviceFunction::kApplyMix:
      run(apply_mix<MixKernel>, launch.arguments);
      break;
    case DeviceFunction::kCommitAtomics:
      run(commit_atomics<CommitArguments>, launch.commit);
      break;
    case DeviceFunction::kDelay:
      break;
  }
}

}  // namespace interlock
