// text_in_run_order: a program for those who take the order of its text for the order of its
// accesses, as encoders do: what stands first is what the others have to wait for.
#pragma once

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Returns `program` with its statements where its reference run has them, as a text of its own, so
// that numbers count anew and waits stand after their signals; itself where that is how it stands.
// `order=` stays with its dispatch. Only accesses, command buffers, and statements about values are
// meant by it: what the host submits with is not where the run would need it.
// Errors: a deadlock, so that there is no such run; a statement about a value stands before an
// access of its bytes and that runs before it, or the other way round, so that it means another
// value there. A stop leaves any of these. Cost: find_reference_order(), and linear; for statements
// about values that some dispatch overtakes, times the accesses of their memories.
Result<Program> text_in_run_order(Program program);

}  // namespace interlock
