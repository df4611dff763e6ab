// The obvious meaning of a plan, byte by byte: whatever bytes values have, every read must find
// what the same read finds in the program without placement. Knows nothing of lives and pools.
#pragma once

#include <string>

#include "encoder/program/program.h"

namespace interlock {

// Returns the first read, in issue order, that finds another writer's byte in `planned` than in
// `program`, or an output that ends with one; empty if there is none.
// Requires: both have the same dispatches with the same operands.
// Cost: a step for each byte that is accessed, and for each byte of a memory.
std::string first_clobber(const Program& program, const Program& planned);

}  // namespace interlock
