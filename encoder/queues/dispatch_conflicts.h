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

// That there are at most so many.
Result<Success> check_count(const Program& program);

// The same as check_is_dispatches() for any number of dispatches.
Result<Success> check_is_dispatches_alone(const Program& program);

// By dispatch: the earlier ones that it conflicts with, those through a third dispatch left out.
// What follows `actual` no encoder knows. Cost: that of DataDependencies.
Predecessors conflicts_of(const Program& program);

// Whether the two operands share a byte that must be accessed in order: one of them changes it, and
// not both by atomics of one operation. So two dispatches, by what they declare.
// Cost: constant; the pairs of operands.
bool are_in_conflict(const Dispatch& first, const Access& first_access, const Dispatch& second,
                     const Access& second_access);
bool are_in_conflict(const Program& program, DispatchId first, DispatchId second);

}  // namespace interlock
