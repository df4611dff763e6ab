// The exact checks once more, the slow and obvious way: byte by byte and pair by pair, straight
// from the definitions. Nothing in common with simulator/ but the types of the answers.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/hazards/hazards.h"

namespace interlock {

// Cost of all: pairs of accesses times the bytes of the memories.
std::vector<Hazard> reference_all_hazards(const Program& program);
std::vector<Hazard> reference_hazards(const Program& program);

// Tries every placement of barriers. Requires: at most 16 dispatches.
uint64_t reference_fewest_barriers(const Program& program);

// Follows every chain of conflicts. Requires: few dispatches.
uint64_t reference_longest_chain(const Program& program);

// Requires: opaque dispatches only.
std::vector<AliasViolation> reference_alias_violations(const Program& program);

// As find_reordered(); which members of two different rows of atomics are named may differ.
std::vector<ReorderedRead> reference_reordered(const Program& program);

}  // namespace interlock
