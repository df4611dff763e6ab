// Displacements: the short form of a schedule, as `witness` lines say it: what moves from issue
// order, and where to.
#pragma once

#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Applies the displacements in turn to reference order. `A before B` moves the (remaining) steps of
// A to right before the first step of B; `A after B` to right after the last step of B; `A commits
// after B` makes A run late and puts its commit right after the last step of B; `A fetches before B
// commits` puts a fetch of A right before the commit of B, which then is a step of its own. Beside
// scoped barriers the last two speak of the bytes that can wait, and that can be missed
// (split_steps.h, also for `wanted`). With several queues each line defers some operations until
// others have run (queue_schedule.h). Errors: a stop (stop.h); slices out of range or already
// moved; nothing can wait or be missed; a schedule that is not legal (check_legal).
Result<Schedule> schedule_of(const Program& program, const HappensBefore& order,
                             const std::vector<Displacement>& displacements,
                             const StepBytes* wanted = nullptr);

// The fewest displacements by this method that give `schedule` back: dispatches outside a longest
// increasing subsequence move. Requires: whole dispatches, as every strategy but split pieces
// makes.
std::vector<Displacement> displacements_of(const Program& program, const Schedule& schedule);

// The one that says most: what commits late or fetches early, else the first one.
// Requires: not empty.
const Displacement& head_of(const std::vector<Displacement>& displacements);

// The displacement as a `witness` line says it, e.g. "vjp before reduce".
std::string text_of(const Program& program, const Displacement& displacement);

}  // namespace interlock
