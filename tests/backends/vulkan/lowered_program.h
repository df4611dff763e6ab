// ForecastLowering: what the Vulkan backend makes of a program, said as a program again, so that
// the simulator can judge it. Restates the rules of the lowering (docs/backends.md), shares none of
// it.
#pragma once

#include <vector>

#include "backends/vulkan/device_limits.h"
#include "encoder/program/program.h"

namespace interlock {

// In what the lowered program may differ.
struct LoweringDifferences {
  bool wide_bindings = false;
  bool compute_copies = false;
  bool several_phases = false;
};

struct ForecastLowering {
  Program program;                  // Opaque dispatches, copies and fills on raw ranges.
  std::vector<DispatchId> origins;  // By dispatch of `program`: of the given one.
};

ForecastLowering lowered_program(const Program& program, const DeviceLimits& limits,
                                 const LoweringDifferences& differences);

}  // namespace interlock
