// Unplan: the graph behind a recorded stream. A stream has raw ranges of a memory that some planner
// has filled; this pass says which values went through it, so that another planner can place them.
#pragma once

#include <string>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Returns the program with unplaced tensors instead of the ranges of the memory `memory`. In issue
// order, a write begins a new value; a read reads the values that were written to its bytes last;
// an update, an atomic and a partial write change those values. Bytes that are read before they are
// written are inputs, with initial values. If the program has no outputs, the values that nobody
// reads are its outputs. Sync, witness and expectations spoke of the old bytes and are dropped.
// Errors: no such memory; a memory in which tensors are placed; more operands than a dispatch may
// have. Cost: O(a log a) in accesses, and a step for each value that a range covers.
Result<Program> unplan(const Program& program, const std::string& memory);

}  // namespace interlock
