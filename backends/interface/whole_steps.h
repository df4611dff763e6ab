// Which schedules a backend can execute that reads and commits each dispatch as a whole.
#pragma once

#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Errors (ErrorKind::kRefused): the schedule fetches or commits some bytes of a dispatch by
// themselves, which `backend` does not do. Cost: linear in the steps.
Result<Success> expect_whole_steps(const Program& program, const Schedule& schedule,
                                   std::string_view backend);

}  // namespace interlock
