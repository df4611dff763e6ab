// Queue steps: what the machine of counters carries out part by part, as the steps of a schedule,
// which shadow machine and backends execute.
#pragma once

#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/queue_machine.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// `parts` as steps: what a dispatch fetches, runs and commits one after another is one step.
// Requires: `parts` are all of `machine`, in an order that it can carry out.
// Cost: linear, times the pieces of a dispatch.
Schedule steps_of(const Program& program, const QueueMachine& machine,
                  const std::vector<OperationPart>& parts);

}  // namespace interlock
