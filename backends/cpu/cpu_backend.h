// CpuBackend: the reference device. Executes a schedule step by step with the kernels of
// backends/kernels/, one lane a slice; bit-identical on every machine.
//
// This folder has the backend and what it shares with the reference (execute.h), and runs that note
// or judge each access of a kernel (recording_memory.h, instrumented.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "backends/cpu/execute.h"
#include "backends/interface/backend.h"

namespace interlock {

class CpuBackend final : public Backend {
 public:
  // `limit_bytes` bounds the memories of a program, and separately the late writes that wait.
  // `bodies`: by KernelId; a test may have wrong ones.
  explicit CpuBackend(uint64_t limit_bytes = kExecutionLimitBytes,
                      std::span<const CpuBody> bodies = cpu_bodies())
      : limit_bytes_(limit_bytes), bodies_(bodies) {}

  std::string_view name() const override { return "cpu"; }
  Availability availability() const override { return {true, capabilities().device}; }

  // Witness mode only: one lane at a time overlaps nothing.
  bool supports(ExecutionMode mode) const override { return mode == ExecutionMode::kWitness; }
  Capabilities capabilities() const override;

  // The backend keeps no state between runs: runs may go on in several host threads.
  // Errors also: a body wrote into the guards, 256 bytes on either side of each memory.
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override;

 private:
  uint64_t limit_bytes_;
  std::span<const CpuBody> bodies_;
};

}  // namespace interlock
