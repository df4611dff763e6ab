// Best fit: values get their bytes in the order of their first steps, from the free bytes that fit
// best; a value that dies gives its bytes back.
#pragma once

#include <cstdint>

#include "encoder/plan/placement_problem.h"

namespace interlock {

struct BestFitOptions {
  // Of the values that begin in one step. Else they come in their own order.
  bool takes_largest_first = true;
  // Free bytes at the end of the pool are taken only if no others fit: what grows finds them there.
  bool spares_the_end = false;
  // Prefer what needs no barrier. An encoder that places a barrier where it must has one somewhere
  // after the last use of most free bytes; the others cost a barrier that the data does not need.
  bool avoids_barriers = false;
  // Only in steps from the first to, and without, the last.
  uint32_t first_avoiding_step = 0;
  uint32_t last_avoiding_step = UINT32_MAX;
  // The pool may grow to this size before free bytes that cost a barrier are taken.
  uint64_t budget_bytes = 0;
};

// Returns a valid placement.
// Cost: O(v log v + v f), where f is the number of free ranges that there are at a time.
ValuePlacement place_best_fit(const PlacementProblem& problem, const BestFitOptions& options = {});

}  // namespace interlock
