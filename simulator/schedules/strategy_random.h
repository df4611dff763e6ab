// Strategy "random": legal schedules that a seed draws.
#pragma once

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/strategy.h"

namespace interlock {

// A random legal schedule: a random linear extension, dispatches sometimes split in two pieces,
// commits sometimes late. With several queues or the host: random_queue_schedule() (queue_walk.h).
Schedule random_schedule(const Program& program, const HappensBefore& order, Choice& choice);

StrategyFactory random_strategy;

}  // namespace interlock
