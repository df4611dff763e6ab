// matmul_tn: y[rows, cols] = a[inner, rows]^T b[inner, cols]. A slice is a row of y.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel_table.h"

namespace interlock {

struct MatmulTnKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice;
    for (uint64_t col = lane.index(); col < params.cols; col += lane.count()) {
      float sum = 0.0f;
      for (uint64_t k = 0; k < params.inner; ++k) {
        sum +=
            memory.load_f32(0, k * params.rows + row) * memory.load_f32(1, k * params.cols + col);
      }
      memory.store_f32(2, row * params.cols + col, sum);
    }
  }
};

}  // namespace interlock
