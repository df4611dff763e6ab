// Cause of what passes get wrong: a backward pass, a replay policy, a planner. As for encoders
// (cause.h) it is found by experiment, on programs with less and less of the find.
#pragma once

#include <string>

#include "encoder/plan/planner.h"
#include "encoder/program/program.h"
#include "fuzz/judge/cause.h"
#include "fuzz/judge/pass_chain.h"

namespace interlock {

// The cause of the finding of this signature that the passes give `unplanned`:
// - of a hazard, that of the encoder, if it misses it in the placed program; else how the planner
//   made two values share bytes, "slot_reuse", whatever the kind of the hazard;
// - of a value that is not there when it is read, "lifetime" and what the find cannot do without,
//   "lifetime-reset", whether the reader finds another value, a freed one or its own result;
// - of an alias contract, "alias" if the planner breaks those of several kernels;
// - of a gradient, "gradient" and how the paths meet, "gradient-along_a_path", whatever the
// kernels. Else, and where no experiment fails, the signature. Requires: the passes give
// `unplanned` such a finding, and the reference chain gives it none. Cost: up to some twenty runs
// of the passes.
Cause cause_of_passes(const PassChain& chain, const Program& unplanned, const PlanOptions& plan,
                      const std::string& signature);

}  // namespace interlock
