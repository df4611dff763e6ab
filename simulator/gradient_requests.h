// Where the statement `backward` has put what: the requests to check its gradients by.
#pragma once

#include <vector>

#include "encoder/program.h"
#include "simulator/gradient_check.h"

namespace interlock {

// One request for each backward pass of the program, in order. The gradient by w is the tensor d_w
// that the pass declares, or, where that name was taken, d_w.2, d_w.3, …: the first of these.
// Cost: O(t log t) in the tensors that backward passes declare.
std::vector<GradientRequest> gradient_requests_of(const Program& program);

}  // namespace interlock
