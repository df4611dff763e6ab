// Update dispatches: the kernels of a training step that work in place on what they update.
#pragma once

#include <vector>

#include "fuzz/generate/program_sketch.h"

namespace interlock {

// Emits accumulate, sgd or adamw, whichever is drawn. `operands`: the gradient, of this shape; what
// is updated are values that are there or new inputs. Emits nothing where they share bytes.
void emit_update(ProgramSketch& sketch, SketchShape shape, std::vector<SketchOperand> operands);

}  // namespace interlock
