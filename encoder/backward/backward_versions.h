// The rule that a gradient by a tensor is that by what the tensor holds where the backward pass
// stands: a loss that depends on what it held before has another gradient than the one asked for.
#pragma once

#include "encoder/backward/backward_flow.h"
#include "encoder/backward/backward_graph.h"
#include "encoder/backward/backward_values.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Errors: the loss depends on an earlier value of a tensor of `graph.wrt_tensors`, on a way that
// does not go through its last one. What an optimizer leaves (sgd, adamw) depends on nothing, and a
// tensor to differentiate by that has only been updated in place, as weights are, on no other one.
// Cost: linear in the program, for each 64 of the tensors that were written.
Result<Success> check_versions(const Program& program, const BackwardValues& values,
                               const GradientKernels& kernels, const BackwardGraph& graph);

}  // namespace interlock
