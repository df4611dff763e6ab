// The bodies of all kernels as the CPU calls them, and the execution of one dispatch in place: what
// the CPU backend's steps and the program-order reference share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu/cpu_memory.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/image.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"

namespace interlock {

// Runs one slice.
using CpuBody = void (*)(CpuMemory& memory, const KernelParams& params, uint64_t slice);

// By KernelId.
std::span<const CpuBody> cpu_bodies();

// The operands of the dispatch in memories that start at `memories`, by MemoryId.
// Requires: the memories outlive the operands.
std::vector<CpuOperand> bind_operands(const Program& program, DispatchId id,
                                      std::span<uint8_t* const> memories);

// In `image`, in place. Requires: `image` outlives them and keeps its buffers.
std::vector<CpuOperand> bind_operands(const Program& program, DispatchId id, MemoryImage& image);

// Runs the slices of the piece one after another, by `bodies[kernel]`.
void execute_piece(const Program& program, const DispatchPiece& piece,
                   const std::vector<CpuOperand>& operands,
                   std::span<const CpuBody> bodies = cpu_bodies());

// Runs the whole dispatch.
void execute_dispatch(const Program& program, DispatchId id, MemoryImage& image);

// Carries out a statement of the host in memories that start at `memories`, by MemoryId: what it
// reads goes to its place in `host_reads` (MemoryImage). Requires: it is of the host.
void execute_host_statement(const Program& program, DispatchId id,
                            std::span<uint8_t* const> memories,
                            std::vector<std::vector<uint8_t>>& host_reads);

}  // namespace interlock
