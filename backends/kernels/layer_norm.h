// layer_norm: y = w (x - mean(x)) / sqrt(var(x) + eps) + b, per row. A slice is a row.
// The sums come first; then each element is read before it is written, and never again: in place is
// safe.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct LayerNormKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const RowMoments x =
        moments_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float r = reciprocal_sqrt_f32(x.variance + params.eps);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float normalized = (memory.load_f32(0, row + i) - x.mean) * r;
      memory.store_f32(3, row + i, normalized * memory.load_f32(1, i) + memory.load_f32(2, i));
    }
  }
};

}  // namespace interlock
