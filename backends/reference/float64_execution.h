// Executes whole programs in float64, one dispatch after another by the oracles of the kernels:
// what a program means before any rounding to float32. No float32 kernel's body has a part in it,
// so that the backward pass one-shot, executed here, is a reference for every pass on every
// backend.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/interface/backend.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// The words of every memory, by MemoryId: word k is its bytes [4k, 4k + 4) as a float32 that was
// never rounded. A last word that is not whole is left out.
struct Float64Image {
  std::vector<std::vector<double>> memories;
};

// Returns what reference order leaves. Ended values last: nothing is poisoned. A dispatch reads all
// of its inputs before it writes, so that in place or not is the same. `copy` takes whole aligned
// words as they are; all other bytes that kernels without float32 values leave (fill, copy and mix,
// which opaque dispatches are) become the float32 that they spell. Cost: about ten times a run on
// the CPU; in memory three times that of the program, and six times the operands of one dispatch.
// Errors: the memories exceed `limit_bytes`.
Result<Float64Image> execute_in_float64(const Program& program,
                                        uint64_t limit_bytes = kExecutionLimitBytes);

// The elements of an f32 tensor.
std::vector<double> values_of(const Program& program, const Float64Image& image, TensorId tensor);

}  // namespace interlock
