// softmax_vjp_stream: gx = y (g - sum(y g)), per row, as ggml's CPU kernel soft_max_back computes
// it (d99724f2): the sum, then three passes over gx, which copy g there, subtract the sum, and
// multiply by y. So gx may lie on g. On y it may not: the copy destroys what the last pass
// multiplies by, and the result is (g - sum)^2, always. A slice is a row.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct SoftmaxVjpStreamKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float dot = sum_over(lane, cols, [&](uint32_t i) {
      return memory.load_f32(0, row + i) * memory.load_f32(1, row + i);
    });
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(1, row + i));
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(2, row + i) - dot);
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(2, row + i) * memory.load_f32(0, row + i));
    }
  }
};

}  // namespace interlock
