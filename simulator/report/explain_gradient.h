// What a wrong gradient says to a person.
#pragma once

#include "encoder/program/program.h"
#include "simulator/gradients/gradient_check.h"
#include "simulator/report/finding.h"

namespace interlock {

// Returns a finding of the kind `gradient`: the last write of the gradient, its bytes, and the
// tensor that it is the gradient by. Cost: linear in what `found` lists.
Finding explain_gradient(const Program& program, const GradientFinding& found);

}  // namespace interlock
