// Barrier bounds: how few barriers the conflicts of a program need.
#pragma once

#include <cstdint>

#include "encoder/program.h"
#include "simulator/byte_segments.h"

namespace interlock {

struct BarrierBounds {
  // For the given issue order. Each conflict i<j needs a barrier in the slots [i,j); the greedy
  // choice is optimal because the conflicts that force its barriers are disjoint intervals.
  uint64_t fewest_barriers = 0;
  // With free reordering: levels of the conflict graph, minus 1. Dispatches on the longest chain of
  // conflicts, minus 1.
  uint64_t longest_chain = 0;
};

// Cost: O(a log a) for a accesses.
BarrierBounds barrier_bounds(const Program& program);

// As above. Requires: `segments` was built from `program`.
BarrierBounds barrier_bounds(const Program& program, const ByteSegments& segments);

// Only BarrierBounds::fewest_barriers, in half the time.
uint64_t fewest_barriers(const Program& program, const ByteSegments& segments);

}  // namespace interlock
