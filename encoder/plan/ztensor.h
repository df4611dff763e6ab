// ztensor's arena, before and after its fix.
//
// Restates the arena pool and ResetPool of zerfoo/ztensor, and the Saver of its ADR 006, as told in
// ztensor #167 and 6f571ce: bump allocation, one reset between steps. Before the fix, what a Saver
// had saved for the backward pass was not protected from the reset: gradient norms collapsed from
// 3.74 to 2.5e-06 in the second batch. The fix counts pins, poisons on reset, and lets a free act
// only in the epoch of its allocation.
//
// Weights, inputs and results are persistent and lie on a heap. Not modelled: finalizers that free
// late (6f571ce), results that are moved into the arena (dc2ac65).
#pragma once

#include "encoder/plan/planner.h"

namespace interlock {

// Nothing survives a reset, whoever still needs it.
Result<Program> plan_ztensor_167(const Program& program, const PlanOptions& options);

// Counted pins: one for each consumer after the reset.
Result<Program> plan_ztensor(const Program& program, const PlanOptions& options);

}  // namespace interlock
