// The repair of a deadlock: one statement of sync that goes, or stands elsewhere.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/report/finding.h"

namespace interlock {

// Lets `fix` and `repair` of a deadlock say the first change of these after which all of the
// program runs and nothing is wrong that was not among what ran before: a wait of the circle goes;
// what is waited for comes before the wait of its own queue, or of the host, or that wait after it;
// the wait is for another signal, or its signal of another queue, after all that has to be over by
// then; one of the circle stands elsewhere, up to 24 places from its own. What is in conflict runs
// in the order that signals and waits state, and else in that of the text. Where each change that
// lets all run leaves other findings, it is the one that leaves the fewest, and `fix` says so.
// Where none that is tried does, `fix` says so, and there is no `repair`; where the circle is
// longer than 16, or `work_left` ends the search, `fix` stays. Requires: `finding` is the deadlock
// of `program`, and not explained by other changes. Cost: of check() for each change that is tried,
// a few for each statement of the circle.
void find_deadlock_repair(const Program& program, uint64_t& work_left, Finding& finding);

}  // namespace interlock
