// Instrumented execution: runs a program in reference order and compares every load and store of
// every kernel body with what the dispatch declares. Everything that the simulator proves rests on
// the declared ranges; this is the check that they are true.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "backends/cpu/recording_memory.h"
#include "backends/interface/backend.h"
#include "encoder/kernel/kernel_table.h"
#include "simulator/report/finding.h"

namespace interlock {

using RecordedBody = void (*)(RecordingMemory& memory, const KernelParams& params, uint64_t slice);

// The bodies of all kernels, by KernelId; a test may replace one by a wrong one.
std::vector<RecordedBody> recorded_bodies();

struct InstrumentedRun {
  MemoryImage image;              // The final bytes.
  std::vector<Finding> findings;  // Of kind undeclared, in reference order.
};

struct InstrumentedOptions {
  uint64_t limit_bytes = kExecutionLimitBytes;
  std::vector<RecordedBody> bodies = recorded_bodies();
  // If set, called after every slice with all that it touched, by access.
  std::function<void(DispatchId, uint64_t slice, std::span<const OperandTouches>)> on_slice;
};

// Executes `program`. One finding per operand and direction (read, write) of a dispatch, over all
// its slices.
// Errors: the program's memories exceed the limit.
// Cost: some ten times that of the cpu backend.
Result<InstrumentedRun> run_instrumented(const Program& program,
                                         const InstrumentedOptions& options = {});

// The findings alone.
Result<std::vector<Finding>> find_undeclared(const Program& program,
                                             const InstrumentedOptions& options = {});

}  // namespace interlock
