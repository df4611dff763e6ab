// The worker's side: executes what arrives, until the other end is closed.
#pragma once

#include "backends/interface/backend.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// What a backend may take for granted of a run, checked where the run comes from another process.
// Errors: `schedule` names a dispatch that `program` does not have, does not run every slice once,
// or does not commit once whatever it runs late. Whether it is legal (check_legal) is another
// question. Cost: O(steps · log(steps)).
Result<Success> check_executable(const Program& program, const Schedule& schedule);

// Answers requests (message.h) that arrive at descriptor `in` through `out`, one after another.
// What is no request, or none that a backend may get, is answered with an error. Returns when the
// other end is closed.
void serve(Backend& backend, int in, int out);

// As above with standard input and output, as a worker process that RemoteBackend starts: what
// else prints to standard output goes to standard error. The process ends soon after the other end
// of its socket is closed, even if the backend hangs.
void serve_as_worker(Backend& backend);

}  // namespace interlock
