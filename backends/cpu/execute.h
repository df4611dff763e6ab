// Executes one dispatch in place: what the CPU backend's steps and the program-order reference
// share.
#pragma once

#include <vector>

#include "backends/backend.h"
#include "backends/cpu/cpu_memory.h"
#include "encoder/kernel_table.h"
#include "encoder/program.h"

namespace interlock {

// The operands of the dispatch in `image`, in place.
// Requires: `image` outlives them and keeps its buffers.
std::vector<CpuOperand> bind_operands(const Program& program, DispatchId id, MemoryImage& image);

// Runs slices [first_slice, first_slice + slice_count) one after another.
// Requires: they are slices of the dispatch; `params` is dispatch_params_of(program, id).
void execute_slices(const Program& program, DispatchId id, const KernelParams& params,
                    uint64_t first_slice, uint64_t slice_count,
                    const std::vector<CpuOperand>& operands);

// Runs the whole dispatch.
void execute_dispatch(const Program& program, DispatchId id, MemoryImage& image);

}  // namespace interlock
