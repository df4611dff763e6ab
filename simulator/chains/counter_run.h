// CounterRun: the reference run of a program, by semaphores that count.
#pragma once

#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Returns the statements that run, in the order of the run that always takes the one that stands
// first in the text among those that may run. A wait may run once the value of its semaphore is not
// below its own: the greatest that was signaled so far, or how often a binary one was signaled.
// Requires: one queue, or the host, signals a semaphore, with rising values.
// Cost: cubic in the statements.
std::vector<StatementId> run_by_counters(const Program& program);

// Returns whether the statement may run where these have, by statement, and no others.
// Requires: as above; it is not among them. Cost: quadratic in the statements.
bool may_run_by_counters(const Program& program, const std::vector<bool>& have_run,
                         StatementId statement);

}  // namespace interlock
