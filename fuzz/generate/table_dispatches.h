// What generated programs have of some kernels of the table: one dispatch each.
#pragma once

#include <cstdint>
#include <vector>

#include "fuzz/generate/backward_group.h"
#include "fuzz/generate/program_sketch.h"

namespace interlock {

// The columns of rope, which turns pairs of them.
constexpr uint64_t even(uint64_t cols) { return cols + cols % 2; }

void emit_embedding(ProgramSketch& sketch, const Extents& extents);
void emit_rope(ProgramSketch& sketch, const Extents& extents);
void emit_cross_entropy(ProgramSketch& sketch, const Extents& extents);

// Emits accumulate, sgd or adamw, whichever is drawn. `operands`: the gradient, of this shape; what
// is updated are values that are there or new inputs. Emits nothing where they share bytes.
void emit_update(ProgramSketch& sketch, SketchShape shape, std::vector<SketchOperand> operands);

}  // namespace interlock
