// Strategies: which schedules of a program to try. One policy per file; each yields legal
// schedules.
#pragma once

#include <vector>

#include "encoder/program.h"
#include "simulator/choice.h"
#include "simulator/happens_before.h"
#include "simulator/hazards.h"
#include "simulator/schedule.h"

namespace interlock {

// T5's deciding runs beside issue order (strategy_three.cc): the epoch-reversed run executes each
// execution epoch backwards; the lazy run commits the writes of each memory epoch at its end, in
// reverse.
Schedule epoch_reversed_schedule(const Program& program, const HappensBefore& order);
Schedule lazy_schedule(const Program& program, const HappensBefore& order);

// T6 (strategy_directed.cc): the sink of a hazard moves its first dispatch, with what must follow
// it, to right behind the second; a hazard that is ordered but not visible commits late instead.
std::vector<Displacement> sink_of(const Program& program, const HappensBefore& order,
                                  const Hazard& hazard);

// A random legal schedule (strategy_random.cc): a random linear extension, dispatches sometimes
// split in two pieces, commits sometimes late.
Schedule random_schedule(const Program& program, const HappensBefore& order, Choice& choice);

}  // namespace interlock
