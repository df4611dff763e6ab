// waits_of: which waits order dispatches of serial queues.
#pragma once

#include "encoder/queues/order_reduction.h"
#include "encoder/queues/queue_program.h"

namespace interlock {

// Returns, by dispatch, those of other queues that it is to wait for, so that all of `pairs` are
// ordered and nothing else: the edges between queues of the transitive reduction of `pairs` and
// the order of each queue. `pairs` has, by dispatch, ones that are issued before it; of `plan`,
// `after` does not count. Requires: serial queues. Cost: that of OrderReduction.
Predecessors waits_of(const QueuePlan& plan, const Predecessors& pairs);

}  // namespace interlock
