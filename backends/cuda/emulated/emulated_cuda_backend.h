// EmulatedCudaBackend: executes programs with the kernels of the CUDA backend on an EmulatedDevice
// (device.h), that is, on the host.
//
// This folder has the backend and the kernels as the device launches them (kernels.h).
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "backends/cuda/emulation/device.h"
#include "backends/cuda/kernels/launch_arguments.h"
#include "backends/interface/backend.h"

namespace interlock {

struct EmulatedCudaOptions {
  uint64_t limit_bytes = kExecutionLimitBytes;  // Of the memories, and apart, of late writes.
  uint64_t seed = 0;  // Of the orders of blocks and threads; the same for every run.
  uint32_t block_thread_count = kBlockThreadCount;
  uint32_t grid_block_count_max = EmulatedDevice::kGridBlocksMax;
  uint64_t mix_block_bytes_max = kMixBlockBytesMax;
  FiberSwitch fiber_switch = fiber_switches().front();
};

class EmulatedCudaBackend final : public Backend {
 public:
  explicit EmulatedCudaBackend(const EmulatedCudaOptions& options = {})
      : options_(options), device_(options.fiber_switch) {}

  std::string_view name() const override { return "cuda-emulated"; }
  Availability availability() const override { return {true, capabilities().device}; }

  // In overlap mode the CUDA backend runs on HostCudaRuntime: streams, events and graphs order
  // launches as CUDA says, those without order take turns block by block, and some of them run
  // while the host issues others. Every run draws other turns, from the seed on.
  bool supports(ExecutionMode) const override { return true; }
  Capabilities capabilities() const override;

  // As Backend::run(). Numbers: all bits are those of the cpu backend.
  // Errors: as there; a finding of the device about the kernels; a write outside of all memories.
  // Runs of several host threads take turns.
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override;

 private:
  EmulatedCudaOptions options_;
  std::mutex mutex_;
  EmulatedDevice device_;
  uint64_t trial_count_ = 0;  // Runs in overlap mode.
};

}  // namespace interlock
