// The body that the three products of matrices share: each element of y[rows, cols] is a sum over
// the contracted extent, in its order. A slice is a row of y.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

// Layout says where the operands have the factors of y[row, col]: a_index(params, row, k) and
// b_index(params, k, col).
template <class Layout>
struct MatmulKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice;
    for (uint64_t col = lane.index(); col < params.cols; col += lane.count()) {
      float sum = 0.0f;
      for (uint64_t k = 0; k < params.inner; ++k) {
        sum += memory.load_f32(0, Layout::a_index(params, row, k)) *
               memory.load_f32(1, Layout::b_index(params, k, col));
      }
      memory.store_f32(2, row * params.cols + col, sum);
    }
  }
};

}  // namespace interlock
