// Lowers barriers of a program to what Vulkan says in the same words: no more, and no less.
#pragma once

#include "backends/vulkan/arena.h"
#include "backends/vulkan/command_list.h"
#include "encoder/program.h"

namespace interlock {

// Execution and memory, everything, the host included.
DeviceDependency full_dependency();

// What compute shaders wrote is visible to later compute shaders.
DeviceDependency compute_dependency();

// The execution dependency that goes with a memory dependency in ranges. In Vulkan it concerns all
// commands whatever the ranges (specification 1.3, section 7.1), but validation layers up to
// 1.3.239 apply it to the ranges only: said on its own, every reader agrees.
DeviceDependency execution_part_of(const DeviceDependency& dependency);

// One side of a scoped barrier. Kernels of the stage `copy` run as transfer commands, all others as
// compute shaders (dispatch_lowering.h), so that the stages of a program are those of Vulkan.
uint64_t device_stages_of(StageMask stages);
uint64_t device_accesses_of(AccessMask accesses);

// Appends `barrier` to `list`. Operands become buffer ranges: they narrow the memory side only.
void lower_barrier(const Program& program, const Barrier& barrier, const ArenaLayout& layout,
                   CommandList& list);

}  // namespace interlock
