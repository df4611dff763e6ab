// rms_norm: y = x w / sqrt(mean(x^2) + eps), per row. A slice is a row.
// The sums come first; then each element is read before it is written, and never again: in place is
// safe.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct RmsNormKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float square_sum = sum_over(lane, cols, [&](uint32_t i) {
      const float x = memory.load_f32(0, row + i);
      return x * x;
    });
    const float r = reciprocal_sqrt_f32(square_sum / static_cast<float>(cols) + params.eps);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(0, row + i) * r * memory.load_f32(1, i));
    }
  }
};

}  // namespace interlock
