// PlaceBounds: how few waits add no order where a queue orders only what its barriers do, or queues
// join: found by the clocks. place_certificate.h proves it from operands, queues and barriers.
#pragma once

#include <optional>

#include "encoder/program/program.h"
#include "simulator/barriers/wait_bounds.h"

namespace interlock {

// Returns the bounds of `program`, as find_wait_bounds() does, where why_not_by_places() says
// nothing and dispatches are of more than one queue: of all sync that orders what conflicts and
// what the queues do by themselves, barriers as they stand, and nothing else. Else says why not in
// `why_not`. Requires: as find_wait_bounds(). Cost: squared in the dispatches, times the operands
// of two; and d / 64 steps for each pair that is ordered, of d dispatches.
std::optional<WaitBounds> find_place_bounds(const Program& program, NoWaitBounds& why_not);

}  // namespace interlock
