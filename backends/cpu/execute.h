// Executes one dispatch in place: what the CPU backend's steps and the program-order reference
// share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu/cpu_memory.h"
#include "backends/cpu/kernel_bodies.h"
#include "backends/interface/backend.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"

namespace interlock {

// The operands of the dispatch in memories that start at `memories`, by MemoryId.
// Requires: the memories outlive the operands.
std::vector<CpuOperand> bind_operands(const Program& program, DispatchId id,
                                      std::span<uint8_t* const> memories);

// In `image`, in place. Requires: `image` outlives them and keeps its buffers.
std::vector<CpuOperand> bind_operands(const Program& program, DispatchId id, MemoryImage& image);

// Runs slices [first_slice, first_slice + slice_count) one after another, by `bodies[kernel]`.
// Requires: they are slices of the dispatch; `params` is dispatch_params_of(program, id).
void execute_slices(const Program& program, DispatchId id, const KernelParams& params,
                    uint64_t first_slice, uint64_t slice_count,
                    const std::vector<CpuOperand>& operands,
                    std::span<const CpuBody> bodies = cpu_bodies());

// Runs the whole dispatch.
void execute_dispatch(const Program& program, DispatchId id, MemoryImage& image);

}  // namespace interlock
