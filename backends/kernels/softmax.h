// softmax: y = exp(x - max(x)) / sum(exp(x - max(x))), per row. A slice is a row.
// The maximum and the sum come first; then each element is read before it is written, and never
// again: in place is safe. So every exponential is computed twice: y cannot hold it between.
//
// An element of -inf gives 0. A row that has a NaN or +inf, or nothing but -inf, is NaN throughout:
// infinity minus infinity.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct SoftmaxKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float largest =
        max_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float sum = sum_over(
        lane, cols, [&](uint32_t i) { return exp_f32(memory.load_f32(0, row + i) - largest); });
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(1, row + i, exp_f32(memory.load_f32(0, row + i) - largest) / sum);
    }
  }
};

}  // namespace interlock
