// What generated programs have of embedding, rope and cross-entropy: one dispatch each.
#pragma once

#include <cstdint>

#include "fuzz/generate/backward_group.h"
#include "fuzz/generate/program_sketch.h"

namespace interlock {

// The columns of rope, which turns pairs of them.
constexpr uint64_t even(uint64_t cols) { return cols + cols % 2; }

void emit_embedding(ProgramSketch& sketch, const Extents& extents);
void emit_rope(ProgramSketch& sketch, const Extents& extents);
void emit_cross_entropy(ProgramSketch& sketch, const Extents& extents);

}  // namespace interlock
