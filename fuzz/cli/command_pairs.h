// Findings of a capture by the commands that they are between: a copy of eight rows that nothing
// orders has eight hazards, for one missing barrier.
#pragma once

#include <cstdint>

#include "simulator/report/check.h"

namespace interlock {

// Puts the first finding of each kind between two commands before the others, which keep their
// order. Returns how many there are of those. Cost: O(f log f) in findings.
uint64_t put_pairs_first(const Program& program, CheckReport& report);

}  // namespace interlock
