// in_reference_order: a program as its reference run executes it, so that whatever goes through
// statements one by one sees what that run sees.
#pragma once

#include <optional>

#include "encoder/program/program.h"
#include "simulator/order/reference_order.h"

namespace interlock {

// Returns `program` with the statements of `order`, in that order; what never runs is left out.
// Its text_order says where each stood. It has no expectations, and does not say what was written
// in short (captures, replays). Witnesses go along, and backward passes whose statements still come
// one after another, after all dispatches that they come after in the text.
// Requires: `order` is that of `program`. Cost: O(n log n) for n statements.
Program in_reference_order(const Program& program, const ReferenceOrder& order);

// Returns `program` as its reference run executes it: itself where that is as it stands, as with
// one queue. Cost: as above.
Program reference_run(const Program& program);

// Returns a program in reference order as its text has it, but for what was left out; one that is
// in the order of its text as it is. Cost: as above.
Program as_in_text(const Program& program);

// The place in the text of what a program in reference order has. Requires: `in_order` was made
// from `text`. Cost: constant.
DispatchId in_text(const Program& text, const Program& in_order, DispatchId dispatch);
BarrierId in_text(const Program& text, const Program& in_order, BarrierId barrier);
LifetimeId in_text(const Program& text, const Program& in_order, LifetimeId lifetime);

}  // namespace interlock
