// Redundancy beside scoped barriers, by the definition itself: remove and check again.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/redundancy.h"

namespace interlock {

struct ScopedRedundancy {
  std::vector<RedundantBarrier> redundant;  // In order of barriers.
  uint64_t unjudged_count = 0;              // Barriers for which the work limit was too small.
};

// Returns the barriers that judge_removal() calls redundant, for any mixture of full, execution and
// scoped barriers. Exact, except for the unjudged.
// Cost: for each barrier two checks of the dispatches around it, up to the next barrier on either
// side that alone orders all that it separates; `work_limit` bounds the accesses so checked, and
// what is compared where there are hazards.
ScopedRedundancy find_scoped_redundant(const Program& program, uint64_t work_limit);

}  // namespace interlock
