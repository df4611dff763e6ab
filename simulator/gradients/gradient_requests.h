// Where the statement `backward` has put what: the requests to check its gradients by.
#pragma once

#include <vector>

#include "encoder/program/program.h"
#include "simulator/gradients/gradient_check.h"

namespace interlock {

// Where the pass has put what, in a program that has its statements. Cost: linear.
GradientRequest gradient_request_of(const Program& program, const Backward& pass);

// One request for each backward pass of the program, in order. Cost: linear.
std::vector<GradientRequest> gradient_requests_of(const Program& program);

}  // namespace interlock
