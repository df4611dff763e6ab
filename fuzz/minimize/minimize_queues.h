// Minimization of programs with several queues, with the host or with indirect dispatches.
#pragma once

#include <string>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "fuzz/minimize/minimizer.h"

namespace interlock {

// As minimize_program(), of a program that needs_queue_order(): a deadlock, else the first hazard
// with the best evidence, else the first of what else goes wrong, stays in the reference run of
// each smaller program; kinds of finding that the program did not have do not come in, nor signals
// that nothing orders. Errors: there is no finding; a stop.
Result<MinimizeReport> minimize_queues(const Program& program, const MinimizeOptions& options);

// As above, for a finding of this signature, with the best evidence that it has; of a program with
// a deadlock for that. Requires: the program has one.
MinimizeReport minimize_queues_for(const Program& program, const std::string& signature,
                                   const MinimizeOptions& options);

// `program` with the line that expects its deadlock, which names those that wait; they get labels
// for it. Requires: it has one, and stands as in its text.
Program with_deadlock_line(const Program& program);

}  // namespace interlock
