// Which schedules are executions, where there are several queues, the host or indirect dispatches:
// those that the machine of counters (queue_machine.h) carries out. Nothing here asks the clocks.
#pragma once

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Legal: the machine can carry it out step by step. Errors: a sentence that names the first step
// that it cannot. Cost: that of the machine.
Result<Success> check_legal_on_queues(const Program& program, const Schedule& schedule);

}  // namespace interlock
