// Ours for split barriers: one queue, barriers with scopes, and events where work stands between.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// All dispatches on the default queue, in the order of the text, with the sync of
// InterlockEventsEncoder (encoder/sync/): as many barriers and events as `interlock` has barriers.
// Events are `e1`, `e2`, …: a runtime that gives one out again resets it once it was awaited.
// Before an access of the host, and before a `destroy`, that conflict with what the host has not
// waited for, it waits for all that was submitted. A `split` stays where the program names no
// queues. Errors: as check_host_work_of_no_queue() (host_work.h), and a limit of programs. Cost:
// that of InterlockEventsEncoder, and linear.
Result<Program> encode_events(const Program& program, uint32_t queue_count);

}  // namespace interlock
