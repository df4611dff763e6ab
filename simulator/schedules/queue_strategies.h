// The strategies on programs with several queues or the host: each makes its schedules on the
// machine of counters (queue_machine.h), so that they are legal whatever the clocks say.
#pragma once

#include <memory>

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy.h"

namespace interlock {

// What "three", "directed", "exhaustive", "random" and "pct" make of such programs; "three" does
// what "directed" does, and says so. A schedule of "random" has a seed of its own, which it is
// named by: random_queue_schedule() with it gives the schedule again. Requires: order.has_queues();
// else as for StrategyFactory. So below.
StrategyFactory three_of_queues;
StrategyFactory directed_of_queues;
StrategyFactory exhaustive_of_queues;
StrategyFactory random_of_queues;
StrategyFactory pct_of_queues;

}  // namespace interlock
