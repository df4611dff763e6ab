// cross_entropy_vjp: the VJP of cross_entropy: glogits = (softmax(x) - onehot(label)) gloss, x a
// row of the logits. A slice is a row. The maximum and the sum come first; then each element is
// read before it is written, and never again: glogits may replace the logits.
//
// A row that has a NaN or +inf, or nothing but -inf, is NaN throughout.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct CrossEntropyVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float largest =
        max_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float sum = sum_over(
        lane, cols, [&](uint32_t i) { return exp_f32(memory.load_f32(0, row + i) - largest); });
    const uint32_t label = load_id(memory, 1, slice, cols);
    const float g = memory.load_f32(2, slice);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float y = exp_f32(memory.load_f32(0, row + i) - largest) / sum;
      memory.store_f32(3, row + i, (y - (i == label ? 1.0f : 0.0f)) * g);
    }
  }
};

}  // namespace interlock
