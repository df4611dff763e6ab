// What a planner makes of a program, whether it is one of this build or not.
#pragma once

#include <string>

#include "encoder/plan/planner.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

// The options as a line of text: "plan align=32 slack=0 antichain=0 keep-inputs=0
// opaque-in-place=1". Without the regions of an arena, which a planner of its own may end where it
// likes.
std::string remark_of(const PlanOptions& options);

// The same as options of `interlock encode`, with a space before each; those that are the default
// are left out.
std::string flags_of(const PlanOptions& options);

// The plan, or how a planner of others failed. Errors: those of a PlanFunction.
Result<Encoding> plan_by(const Program& program, const PlanOptions& options,
                         const PlannerEntry& planner);

}  // namespace interlock
