// The worker's side: executes what arrives, until nobody asks any more.
#pragma once

#include "backends/backend.h"

namespace interlock {

// Answers requests (message.h) that arrive at descriptor `in` through `out`, one after another.
// Returns when the other end is closed.
void serve(Backend& backend, int in, int out);

// As above with standard input and output, as a worker process that RemoteBackend starts: what
// else prints to standard output goes to standard error, and the process ends with its parent.
void serve_as_worker(Backend& backend);

}  // namespace interlock
