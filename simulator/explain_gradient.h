// What a wrong gradient says to a person.
#pragma once

#include "encoder/program.h"
#include "simulator/finding.h"
#include "simulator/gradient_check.h"

namespace interlock {

// Returns a finding of the kind `gradient`: the last write of the gradient, its bytes, and the
// tensor that it is the gradient by. Cost: linear in what `found` lists.
Finding explain_gradient(const Program& program, const GradientFinding& found);

}  // namespace interlock
