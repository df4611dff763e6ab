// Our planner, and the two that it is measured against: `fresh`, which reuses nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/plan/planner.h"

namespace interlock {

// Every value on bytes of its own.
Result<Program> plan_fresh(const Program& program, const PlanOptions& options);

// Values that never live at the same time may share bytes, and a kernel's output takes the place of
// an input that dies there, where the alias contract allows it. Of several placements (best fit,
// ordered fit, and for tiny programs every one) the smallest is taken, of those of one size the one
// with fewest barriers. With `slack_percent`, the one with fewest barriers among those that are no
// larger. With `is_antichain`, reuse adds no order to that of the data. Where the program has
// several queues its sync stays, and bytes are reused only where that orders all uses of the old
// value before those of the new one (sync_order.h).
Result<Program> plan_liveness(const Program& program, const PlanOptions& options);

// A point of the trade of memory for barriers.
struct TradePoint {
  uint64_t pool_bytes = 0;
  uint64_t barrier_count = 0;
};

// What plan_liveness can choose from: ascending in bytes, descending in barriers, the first one
// being the smallest.
Result<std::vector<TradePoint>> trade_curve(const Program& program, const PlanOptions& options);

}  // namespace interlock
