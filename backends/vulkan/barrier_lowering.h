// Lowers barriers of a program to what Vulkan says in the same words: no more than that unless the
// program has work that runs elsewhere on the device than where the program has it, and no less.
#pragma once

#include "backends/interface/device_layout.h"
#include "backends/vulkan/command_list.h"
#include "encoder/program/program.h"

namespace interlock {

// Execution and memory, everything, the host included.
DeviceDependency full_dependency();

// What compute shaders wrote is visible to later compute shaders.
DeviceDependency compute_dependency();

// The execution dependency that goes with a memory dependency in ranges. In Vulkan it concerns all
// commands whatever the ranges (specification 1.3, section 7.1), but validation layers up to
// 1.3.239 apply it to the ranges only: recorded by itself, it means the same to both.
DeviceDependency execution_part_of(const DeviceDependency& dependency);

// What a program has that does not run where its scopes say.
struct RunsElsewhere {
  bool copies_in_compute = false;    // Kernels of the stage `copy` that are compute shaders.
  bool uniforms_in_storage = false;  // Uniform operands that are bound as storage buffers.
  bool graphics_in_compute = false;  // What executes in `graphics`: compute shaders, too.
  bool indirect_in_compute = false;  // Arguments of indirect dispatches: shaders read them.
};

// Appends `barrier` to `list`. Kernels of the stage `copy` run as transfer commands, all others as
// compute shaders (dispatch_lowering.h), so that the stages of a program are those of Vulkan.
// Operands become buffer ranges: they narrow the memory side only.
// Scopes also cover where what they name runs `elsewhere`.
void lower_barrier(const Program& program, const Barrier& barrier, const DeviceLayout& layout,
                   CommandList& list, RunsElsewhere elsewhere = {});

// Appends what sets `event`, and what waits for it, of a `set` statement. Events of Vulkan know no
// host: where the set names it, barriers after the wait do its part, without any between stages of
// the device. Requires: `set` is one.
void lower_set(const Program& program, const SyncStep& set, uint32_t event,
               const DeviceLayout& layout, CommandList& list, RunsElsewhere elsewhere);
void lower_await(const Program& program, const SyncStep& set, uint32_t event,
                 const DeviceLayout& layout, CommandList& list, RunsElsewhere elsewhere);

// The stages of Vulkan (VkPipelineStageFlags2) that stand for these.
uint64_t device_stages_of(StageMask stages, RunsElsewhere elsewhere);

}  // namespace interlock
