// rms_norm_vjp_stream: the VJP of rms_norm, as ggml's CPU kernel rms_norm_back computes it
// (d99724f2), with a weight. After the sums and the terms of gw, four passes over gx copy x there,
// scale it, add w g, and scale all:
//   gx = (x c + w g) r, c = -sum(w g x) / (sum(x^2) + eps cols), r = 1 / sqrt(mean(x^2) + eps)
// So gx may lie on x. On g it may not: the copy destroys what the third pass adds, always. Nor may
// gw_rows lie on either. A slice is a row.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct RmsNormVjpStreamKernel {
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
    const float c = -product_sum / (square_sum + params.eps * count);
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(4, row + i, memory.load_f32(2, row + i) * memory.load_f32(0, row + i) * r);
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(3, row + i, memory.load_f32(0, row + i));
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(3, row + i, memory.load_f32(3, row + i) * c);
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float wg = memory.load_f32(1, i) * memory.load_f32(2, row + i);
      memory.store_f32(3, row + i, memory.load_f32(3, row + i) + wg);
    }
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      memory.store_f32(3, row + i, memory.load_f32(3, row + i) * r);
    }
  }
};

}  // namespace interlock
