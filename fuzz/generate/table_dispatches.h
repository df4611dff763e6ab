// What generated programs have of some kernels of the table: one dispatch each, or the group of a
// VJP rule.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

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
// Defined in backward_group.cc.
void emit_backward_group(ProgramSketch& sketch, const Extents& extents, uint32_t dispatch_count_max,
                         const std::function<void()>& between);

// The columns of rope, which turns pairs of them.
constexpr uint64_t even(uint64_t cols) { return cols + cols % 2; }

void emit_embedding(ProgramSketch& sketch, const Extents& extents);
void emit_rope(ProgramSketch& sketch, const Extents& extents);
void emit_cross_entropy(ProgramSketch& sketch, const Extents& extents);

// Emits accumulate, sgd or adamw, whichever is drawn. `operands`: the gradient, of this shape; what
// is updated are values that are there or new inputs. Emits nothing where they share bytes.
void emit_update(ProgramSketch& sketch, SketchShape shape, std::vector<SketchOperand> operands);

}  // namespace interlock
