// Values apart: what a program computes if no value can harm another.
#pragma once

#include <optional>

#include "backends/interface/image.h"
#include "encoder/program/program.h"

namespace interlock {

// Returns the program with every value on bytes of its own: a donation does not take its source's,
// an adoption copies, nothing ends. It has no sync: it is meant to run in reference order. Nothing
// if the outputs do not name what matters or share bytes, if raw operands reach into tensors, or if
// statements have another order (`order=`): there the bytes are the meaning. Cost: as a build.
std::optional<Program> with_values_apart(const Program& program);

// True iff some read finds another value than its own, or an output lies where the alias contract
// of its kernel forbids it: then only with_values_apart() says what was meant. Cost: near linear.
bool harms_values(const Program& program);

// Puts what `apart`, the image after a run of `program_apart`, has in the outputs of `program` to
// where they lie in `image`. Requires: with_values_apart(program) is `program_apart`.
void place_outputs(const Program& program, const Program& program_apart, const MemoryImage& apart,
                   MemoryImage& image);

}  // namespace interlock
