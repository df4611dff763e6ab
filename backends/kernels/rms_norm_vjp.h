// rms_norm_vjp: the VJP of rms_norm. With r = 1 / sqrt(mean(x^2) + eps), per row:
//   gx = r w g - x r^3 mean(w g x)      gw_rows = g x r, whose column sums are gw.
// A slice is a row. The sums come first; then each element is read before it is written, and never
// again: in place is safe.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct RmsNormVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float square_sum = sum_over(lane, cols, [&](uint32_t i) {
      const float x = memory.load_f32(0, row + i);
      return x * x;
    });
    const float product_sum = sum_over(lane, cols, [&](uint32_t i) {
      return memory.load_f32(1, i) * memory.load_f32(2, row + i) * memory.load_f32(0, row + i);
    });
    const float count = static_cast<float>(cols);
    const float r = reciprocal_sqrt_f32(square_sum / count + params.eps);
    const float correction = r * r * r * (product_sum / count);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float x = memory.load_f32(0, row + i);
      const float w = memory.load_f32(1, i);
      const float g = memory.load_f32(2, row + i);
      memory.store_f32(3, row + i, r * (w * g) - x * correction);
      memory.store_f32(4, row + i, g * x * r);
    }
  }
};

}  // namespace interlock
