// layer_norm_vjp: the VJP of layer_norm. With n = (x - mean(x)) / sqrt(var(x) + eps), per row:
//   gx = (w g - mean(w g) - n mean(w g n)) / sqrt(var(x) + eps)
//   gw_rows = g n, whose column sums are gw; those of g are gb.
// A slice is a row. The sums come first; then each element is read before it is written, and never
// again: in place is safe.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct LayerNormVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float count = static_cast<float>(cols);
    const RowMoments x =
        moments_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float r = reciprocal_sqrt_f32(x.variance + params.eps);
    const float cotangent_mean =
        sum_over(lane, cols,
                 [&](uint32_t i) { return memory.load_f32(1, i) * memory.load_f32(2, row + i); }) /
        count;
    const float product_mean =
        sum_over(lane, cols,
                 [&](uint32_t i) {
                   const float n = (memory.load_f32(0, row + i) - x.mean) * r;
                   return memory.load_f32(1, i) * memory.load_f32(2, row + i) * n;
                 }) /
        count;
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float n = (memory.load_f32(0, row + i) - x.mean) * r;
      const float w = memory.load_f32(1, i);
      const float g = memory.load_f32(2, row + i);
      memory.store_f32(3, row + i, (w * g - cotangent_mean - n * product_mean) * r);
      memory.store_f32(4, row + i, g * n);
    }
  }
};

}  // namespace interlock
