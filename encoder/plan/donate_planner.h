// Donation, as MLX does it: a new value takes a dying input's buffer where the kernel tolerates it
// and the sizes agree, and has a buffer of its own otherwise. Nothing else is reused: MLX's
// allocator gets a buffer back when its command buffer has completed, which is after the program.
#pragma once

#include "encoder/plan/planner.h"

namespace interlock {

// Each buffer is a memory of its own, as the MLX encoders want it; the new value `donates` the old.
Result<Program> plan_donate(const Program& program, const PlanOptions& options);

}  // namespace interlock
