// What a backend passes to the body of a dispatch.
#pragma once

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"

namespace interlock {

// The params of the table, and those that `mix` takes from the dispatch.
// Cost: linear in the operands.
KernelParams dispatch_params_of(const Program& program, DispatchId id);

// The number by which `mix` tells dispatches apart: a hash of Program::reference_of(id).
uint32_t identity_of(const Program& program, DispatchId id);

}  // namespace interlock
