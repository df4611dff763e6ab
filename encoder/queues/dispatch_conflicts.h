// dispatch_conflicts: which dispatches an encoder for several queues must keep in order.
#pragma once

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/order_reduction.h"

namespace interlock {

// Nothing, if the program is what these encoders take: dispatches of queues, at most
// OrderReduction::kCountMax. Sync may be there, and is replaced. Errors: it has others, or
// statements of the host or about values, whose place several queues do not tell.
Result<Success> check_is_dispatches(const Program& program);

// By dispatch: the earlier ones that it conflicts with, those through a third dispatch left out.
// What follows `actual` no encoder knows. Cost: that of DataDependencies.
Predecessors conflicts_of(const Program& program);

}  // namespace interlock
