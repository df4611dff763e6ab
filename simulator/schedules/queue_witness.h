// Witness lines for a schedule of several queues: what a strategy has drawn turns much around, and
// of that one pair nearly always suffices (docs/theory.md, T6).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Returns lines whose schedule (queue_schedule.h) `differs`: of a pair that `schedule` turns
// around, or else of another hazard. Empty if no single line does, or `attempt_limit` of them were
// tried first. Requires: order.has_queues(), of `program`; `schedule` is legal, and differs.
// Cost: a run of the machine of counters for each line that is tried; the pairs of dispatches of
// which the later one in reference order begins before what stands open has committed.
std::vector<Displacement> find_queue_witness(const Program& program, const HappensBefore& order,
                                             const Schedule& schedule,
                                             const std::function<bool(const Schedule&)>& differs,
                                             uint64_t attempt_limit = 1000);

// All hazards, with what the host accesses in whole atoms; none where order.queues().is_too_wide(),
// which counts as cut. Requires: order.has_queues(), of `program`. Cost: find_all_hazards().
HazardList find_queue_hazards(const Program& program, const HappensBefore& order, uint64_t limit);

// What no line says, in words: "run late a, fetch b, commit a, run b". In lines of some 100
// columns.
std::string text_of_steps(const Program& program, const Schedule& schedule);

}  // namespace interlock
