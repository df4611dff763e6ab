// Slice: what one finding of a large program can depend on, as a program of its own, so that the
// search for a smaller program starts there and not at a million statements.
//
// What a finding depends on is tried rather than proved: slices rise in width, from the dispatches
// that it names to all that stands before the last of them, and the first one that shows the same
// finding is taken. None of them is trusted.
#pragma once

#include <functional>
#include <span>

#include "encoder/program/program.h"
#include "simulator/facts/fact.h"

namespace interlock {

// Calls visit(forms) with slices of the finding, the narrowest first, until it returns true or a
// slice would be the whole program. Every slice has the barriers between its statements, of equal
// full or execution barriers side by side one. Its last form has memories as they are; one that
// would take long to execute has two forms before that, with memories where each stretch between
// the ends of ranges is one byte, and with memories without gaps.
// Returns whether `visit` did. None of a gradient or of excess barriers, which depend on
// everything. Requires: `fact` is of `program`. Cost: linear in the program, and for each slice in
// its statements.
bool for_each_slice(const Program& program, const Fact& fact,
                    const std::function<bool(std::span<const Program> forms)>& visit);

}  // namespace interlock
