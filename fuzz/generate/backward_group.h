// Backward group: the dispatches of a VJP rule, as part of a generated program.
#pragma once

#include <cstdint>
#include <functional>

#include "fuzz/generate/program_sketch.h"

namespace interlock {

// Few extents per program, so that shapes meet again.
struct Extents {
  uint64_t rows;
  uint64_t cols;
  uint64_t inner;  // Of products of matrices.
};

// Emits the group of a rule of the kernel table (encoder/backward/vjp_rules.h), whichever is drawn.
// Its primals and cotangents are values that are there or new inputs; gradients may take their
// bytes where the kernels bear it, as a backward pass under a planner does. `between` is called
// after every dispatch. Stops early if a gradient took what the rest of the group would read.
// Requires: at most `dispatch_count_max` dispatches are to be emitted; emits none if the group has
// more.
void emit_backward_group(ProgramSketch& sketch, const Extents& extents, uint32_t dispatch_count_max,
                         const std::function<void()>& between);

}  // namespace interlock
