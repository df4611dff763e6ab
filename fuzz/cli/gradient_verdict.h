// The verdict on backward passes that a command is about to spell out: what it writes has no
// statement `backward` any more, so that `interlock check` cannot judge them there.
#pragma once

#include <vector>

#include "encoder/assemble/append_backward_by.h"
#include "encoder/program/program.h"
#include "fuzz/cli/console.h"
#include "simulator/gradients/gradient_check.h"

namespace interlock {

// Prints each wrong gradient to standard error, as `interlock check` does, and that what is written
// does not say so. Returns kFinding, or kNothingFound if there is none that the `expect` lines of
// `program` do not name; kBadInput if the search took too much work.
ExitStatus judge_gradients(const Program& program, const std::vector<Backward>& passes);

// As above, of what a pass of others appended, and by numbers, too. Requires: it has not failed.
ExitStatus judge_appended(const AppendedBy& by);

}  // namespace interlock
