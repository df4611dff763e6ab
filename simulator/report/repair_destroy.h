// Repairs of destroys: the sync that lets one wait for an access of what it destroys.
#pragma once

#include <cstdint>

#include "simulator/report/finding.h"
#include "simulator/report/repair_search.h"

namespace interlock {

// Lets `fix` and `repair` of a destroy that comes too early say the first change of these that
// works: a barrier on the queue of both; a wait for a signal that is there already; a signal and a
// wait; these and a submission. It works if nothing of that place is pending there any more, and
// nothing goes wrong that did not before. Where none does, `fix` says so. Takes its work from
// `work_left`; what is not tried keeps its `fix`. Requires: `finding` is of the program of
// `context`. Cost: find_order_findings() for each change that is tried.
void find_destroy_repair(const RepairContext& context, uint64_t& work_left, Finding& finding);

}  // namespace interlock
