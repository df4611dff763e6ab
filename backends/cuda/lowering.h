// Lowers dispatches and schedules to commands.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cuda/command_list.h"
#include "backends/interface/device_layout.h"
#include "backends/interface/host_statements.h"
#include "backends/interface/poison.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// What a run makes of its program.
struct LoweredProgram {
  explicit LoweredProgram(const Program& program) : layout(program), host(program) {}

  DeviceLayout layout;
  CudaCommandList list;
  HostCopies host;
  std::vector<CommandSpan> dispatches;  // By DispatchId; empty where the list is a schedule.
};

// Every dispatch whole. A dispatch is one launch; but mix with more than kMixBlockBytesMax of
// operands, and table kernels with more slices than a grid has blocks, are several, each after the
// one before it; in front of one that reads ended bytes are the launches that poison them.
// What the host does is none.
LoweredProgram lower_dispatches(const Program& program, const Poison& poison);

// The steps, each after the one before it, with poison as on the CPU. `program` outlives the
// result. A piece that runs late
// writes to staging copies, and its commit moves them. Errors: the staging copies exceed
// `limit_bytes`.
Result<LoweredProgram> lower_schedule(const Program& program, const Schedule& schedule,
                                      uint64_t limit_bytes);

}  // namespace interlock
