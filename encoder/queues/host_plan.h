// HostPlan: what models of runtimes with serial queues do beside the host. Dispatches stay in the
// order of the text, and what is submitted after a statement of the host comes after it, and after
// what it has waited for.
#pragma once

#include "encoder/program/program.h"
#include "encoder/queues/order_reduction.h"
#include "encoder/queues/queue_program.h"

namespace interlock {

// As waits_of(), of what the host accesses, too: `pairs` has for it what it waits for. What comes
// after it needs no wait for that. Requires: as waits_of(), with `plan.queue_of` kOfHost for it;
// issued in the order of the text. Cost: that of waits_of().
Predecessors waits_beside_host(const Program& program, const QueuePlan& plan,
                               PredecessorLists pairs);

// QueuePlan::before_ends of a runtime that frees memory as cudaFree() and a fence on all queues do:
// before a `destroy` the host waits for the last dispatch of each queue. Nothing else about values
// orders anything. Cost: linear, and the queues for each `destroy`.
PredecessorLists all_before_destroys(const Program& program, const QueuePlan& plan);

}  // namespace interlock
