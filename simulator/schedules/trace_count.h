// TraceCount: how many traces a group has, without enumerating them.
#pragma once

#include <cstdint>

#include "simulator/schedules/natural.h"
#include "simulator/schedules/trace_groups.h"

namespace interlock {

struct TraceCount {
  Natural value;
  bool is_exact = true;  // Else `value` is an upper bound.
};

// Returns the number of acyclic orientations of the group's hazards that agree with happens-before.
// Counting them is #P-hard (Linial, 1986): a part whose count takes more than what is left of
// `work_limit` contributes the smaller of 2^hazards and units! instead. Takes the work from the
// limit.
// Cost: O(u^4) for u units at worst, O(u^3) where few of them conflict; and the work, of which one
// unit is at most a product of Naturals.
TraceCount count_traces(const TraceGroup& group, uint64_t& work_limit);

}  // namespace interlock
