// The arena: values are bumped one after the other, and a reset gives all bytes back at once. What
// is still needed after a reset is pinned across it.
#pragma once

#include <cstdint>

#include "encoder/plan/planner.h"

namespace interlock {

enum class ArenaPins : uint8_t {
  kNone,         // Nothing is protected from a reset.
  kOnce,         // One pin before the reset, unpinned after the last use.
  kPerConsumer,  // Counted: a pin for each dispatch after the reset that reads the value, taken
                 // when the value is made, given back by that dispatch.
};

// A region is what lies between two resets: those of the program, if it has any, else every
// `region_dispatches` dispatches. Values with initial values, outputs and values that live from the
// start belong to no region and lie in a `heap`, without reuse. The plan adds the statements
// `reset arena`, `pin` and `unpin`; pinned bytes are left out when the next region is filled.
Result<Program> plan_arena_with(const Program& program, const PlanOptions& options, ArenaPins pins);

// With one pin for each value that needs it.
Result<Program> plan_arena(const Program& program, const PlanOptions& options);

}  // namespace interlock
