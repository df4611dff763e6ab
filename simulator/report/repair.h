// Repairs: for each hazard between queues, or with the host, the cheapest change of the text that
// separates the two, found by trying; of a destroy that comes too early one that lets it wait; of a
// deadlock the one that lets all go on.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/report/finding.h"

namespace interlock {

// Lets `fix` and `repair` of each hazard say the first change of these that works: one more word of
// sync that stands between the two; one more statement, such as a wait for a signal that is there
// already; a later submission; two statements, or more. It works if the two then have no such
// hazard on these bytes and there is no deadlock, and nothing goes wrong that did not before. Where
// each change that separates the two brings another finding, the first one is named, and `fix` says
// so. What is not tried, as the work is more than `work_limit`, keeps its `fix`. In a program with
// a deadlock that alone is repaired (repair_deadlock.h); destroys are repair_destroy.h's. Requires:
// `findings` are of `program`, which has several queues or the host and no text_order. Cost: for
// each change that is tried, QueueOrder of the program; for each that separates the two,
// find_order_findings().
void find_repairs(const Program& program, uint64_t work_limit, std::vector<Finding>& findings);

}  // namespace interlock
