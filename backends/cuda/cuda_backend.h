// CudaBackend: executes programs on the first CUDA device that the process sees. Without nvcc at
// build time, a driver or a device the backend is there and says why it is not available.
//
// This folder lowers programs to commands (lowering.h), plans streams and graphs for them, and
// issues them through CudaRuntime, behind which tests have a host. kernels/ is device code;
// emulation/ is a device of the host for it, and emulated/ the backend on that device.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/cuda/cuda_recording.h"
#include "backends/interface/backend.h"

namespace interlock {

class CudaRuntime;

struct CudaOptions {
  uint64_t limit_bytes = kExecutionLimitBytes;  // Of the memories, and apart, of late writes.
  // Of overlap mode. The seed counts on from one run to the next.
  CudaRecordingOptions overlap = {.lowering = CudaLowering::kStreams};
  // A device that takes longer for one run is given up as lost.
  double timeout_seconds = 120;
  // Null: the runtime of this build. Tests may have one that executes on the host, or fails.
  CudaRuntime* runtime = nullptr;
};

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(CudaOptions options = {});

  std::string_view name() const override { return "cuda"; }

  // The reason names the device, or what is missing.
  Availability availability() const override;
  bool supports(ExecutionMode) const override { return true; }

  // As Backend::run(). Overlap mode executes the program as it stands, whole dispatches in issue
  // order, and not `schedule`. Witness mode is deterministic, and gives the bits of the CPU.
  // Errors: as there; after a lost device the backend is no longer available, because CUDA does not
  // open it anew in the same process.
  // Runs of several host threads take turns.
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override;

  Capabilities capabilities() const override;

  // Those of CudaLowering.
  std::vector<std::string_view> lowerings() const override;
  std::unique_ptr<Backend> with_lowering(std::string_view name) const override;

  // Records the program once, to execute it many times on the same buffers. Recordings and runs of
  // one backend may not go on at the same time. Errors: no device; as CUDA's.
  Result<std::unique_ptr<CudaRecording>> record(const Program& program,
                                                const CudaRecordingOptions& options);

  // As above, the steps of the schedule one after the other. It need not run every dispatch.
  Result<std::unique_ptr<CudaRecording>> record(const Program& program, const Schedule& schedule);

 private:
  Result<Success> open() const;

  CudaOptions options_;
  // The first question, whichever it is, opens the device.
  mutable std::mutex mutex_;
  mutable std::optional<Error> missing_;  // Why there is no device.
  mutable std::shared_ptr<CudaDevice> device_;
};

}  // namespace interlock
