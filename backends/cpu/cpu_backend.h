// CpuBackend: the reference device. Executes a schedule step by step with the kernels of
// backends/kernels/, one lane a slice; bit-identical on every machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/backend.h"

namespace interlock {

class CpuBackend final : public Backend {
 public:
  // `limit_bytes` bounds the memories of a program, and separately the late writes that wait.
  explicit CpuBackend(uint64_t limit_bytes = kExecutionLimitBytes) : limit_bytes_(limit_bytes) {}

  std::string_view name() const override { return "cpu"; }
  Availability availability() const override;

  // Witness mode only: one lane at a time overlaps nothing.
  bool supports(ExecutionMode mode) const override { return mode == ExecutionMode::kWitness; }
  Capabilities capabilities() const override;

  // The backend keeps no state between runs: runs may go on in several host threads.
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override;

 private:
  uint64_t limit_bytes_;
};

}  // namespace interlock
