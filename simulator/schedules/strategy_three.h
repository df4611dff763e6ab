// Strategy "three": T5's deciding runs, which show on one queue whatever any schedule can show.
#pragma once

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/strategy.h"

namespace interlock {

// Besides issue order: the epoch-reversed run executes each execution epoch backwards; the lazy run
// commits the writes of each memory epoch at its end, in reverse.
Schedule epoch_reversed_schedule(const Program& program, const HappensBefore& order);
Schedule lazy_schedule(const Program& program, const HappensBefore& order);

// Whether T5's conditions hold: on one queue, where all barriers are global.
bool decides_by_three(const HappensBefore& order);

StrategyFactory three_strategy;

}  // namespace interlock
