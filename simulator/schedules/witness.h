// Witness: a legal schedule that ends differently, in as few displacements as we find.
#pragma once

#include <functional>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Drops displacements, in halves and then one by one, as long as the rest is a legal schedule that
// still `differs`. Returns a list of which no single one can be dropped, unless `attempt_limit`
// calls of `differs` came first. Requires: differs(schedule_of(displacements)). Cost: O(d log d)
// attempts where one of d displacements matters, O(d^2) at worst.
std::vector<Displacement> shrink_witness(const Program& program, const HappensBefore& order,
                                         std::vector<Displacement> displacements,
                                         const std::function<bool(const Schedule&)>& differs,
                                         uint64_t attempt_limit = 1000);

}  // namespace interlock
