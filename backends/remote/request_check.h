// What a backend may take for granted of a run, checked where the run comes from another process.
#pragma once

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Errors: `schedule` names a dispatch that `program` does not have, does not run every slice once,
// or does not commit once whatever it runs late. Whether it is legal (check_legal) is another
// question. Cost: O(steps · log(steps)).
Result<Success> check_executable(const Program& program, const Schedule& schedule);

}  // namespace interlock
