// Output digest: one number for what a run left in the outputs, to compare runs and machines by
// eye.
#pragma once

#include <cstdint>

#include "backends/interface/image.h"
#include "encoder/program/program.h"

namespace interlock {

// FNV-1a, 64 bits, over the bytes of the outputs in the order of the output lines; of every memory
// if there are none. Requires: `image` is a run of `program`.
uint64_t output_digest(const Program& program, const MemoryImage& image);

}  // namespace interlock
