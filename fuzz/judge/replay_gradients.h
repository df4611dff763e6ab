// A wrong gradient in numbers: it goes wrong in issue order, so there is no witness to replay.
#pragma once

#include <vector>

#include "backends/interface/backend.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "fuzz/judge/replay.h"
#include "simulator/gradients/gradient_check.h"

namespace interlock {

// Runs `program` and the same program with the backward pass one-shot, both in issue order, and
// compares the `wrong` gradients, those that are not the sum over all paths. Of a wrong gradient
// the numbers may agree all the same: what counts twice can be zeros. Of programs of up to 4 MiB
// the details also have one-shot in float64, by the oracles of the kernels: whether the numbers to
// compare with are right themselves. Requires: `wrong` is find_wrong_gradients(program), not empty.
// Errors: the backend failed.
Result<ReplayReport> replay_gradients(const Program& program,
                                      const std::vector<GradientFinding>& wrong, Backend& backend);

}  // namespace interlock
