// Minimizes programs for what passes do wrong on them.
#pragma once

#include <string>

#include "encoder/plan/planner.h"
#include "encoder/program/program.h"
#include "fuzz/judge/pass_chain.h"
#include "fuzz/minimize/minimizer.h"

namespace interlock {

// Shrinks `program` as long as the passes still give it a finding of this signature, no finding of
// a kind that it did not have, and the reference chain none at all. Damage that the CPU shows
// stays. Requires: the passes give it such a finding.
MinimizeReport minimize_passes(const PassChain& chain, const Program& program,
                               const PlanOptions& plan, const std::string& signature,
                               const MinimizeOptions& options);

}  // namespace interlock
