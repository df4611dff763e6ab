// The identity of a finding: words that stay the same while the text around it changes, so that a
// known finding is known again tomorrow.
#pragma once

#include <string>

#include "encoder/program/program.h"
#include "simulator/report/finding.h"

namespace interlock {

// "WAR: Reduce reads g, vjp writes gx": kind, and of both sides the label of the dispatch, or its
// kernel without a number at its end ("MUL_MAT" of "MUL_MAT.199"), the verb, and the tensor or
// memory; of what concerns no accesses the statements or the tensor. Without numbers of dispatches,
// bytes and offsets, so several findings may have one. Requires: the finding is of `program`.
std::string identity_of(const Program& program, const Finding& finding);

}  // namespace interlock
