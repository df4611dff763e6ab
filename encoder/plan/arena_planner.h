// The arena: values are bumped one after the other, and a reset gives all bytes back at once. What
// is still needed after a reset is pinned across it.
#pragma once

#include "encoder/plan/planner.h"

namespace interlock {

// A region is what lies between two resets: those of the program, if it has any, else every
// `region_dispatches` dispatches. Values with initial values, outputs and values that live from the
// start belong to no region and lie in a `heap`, without reuse. The plan adds the statements
// `reset arena`, `pin` and `unpin`; pinned bytes are left out when the next region is filled.
// With one pin for each value that needs it, taken before the reset, given back after the last use.
Result<Program> plan_arena(const Program& program, const PlanOptions& options);

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
//
// Before: nothing survives a reset, whoever still needs it.
Result<Program> plan_ztensor_167(const Program& program, const PlanOptions& options);

// After. Counted pins: one for each dispatch after the reset that reads the value, taken when the
// value is made, given back by that dispatch.
Result<Program> plan_ztensor(const Program& program, const PlanOptions& options);

}  // namespace interlock
