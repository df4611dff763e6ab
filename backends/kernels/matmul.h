// Products of matrices: each element of y[rows, cols] is a sum over the contracted extent, in its
// order. A slice is a row of y.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

template <bool kTransposesA, bool kTransposesB>
struct MatmulKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice;
    for (uint64_t col = lane.index(); col < params.cols; col += lane.count()) {
      float sum = 0.0f;
      for (uint64_t k = 0; k < params.inner; ++k) {
        const uint64_t a = kTransposesA ? k * params.rows + row : row * params.inner + k;
        const uint64_t b = kTransposesB ? col * params.inner + k : k * params.cols + col;
        sum += memory.load_f32(0, a) * memory.load_f32(1, b);
      }
      memory.store_f32(2, row * params.cols + col, sum);
    }
  }
};

// matmul_nn: y[rows, cols] = a[rows, inner] b[inner, cols].
using MatmulNnKernel = MatmulKernel<false, false>;

// matmul_nt: y[rows, cols] = a[rows, inner] b[cols, inner]^T.
using MatmulNtKernel = MatmulKernel<false, true>;

// matmul_tn: y[rows, cols] = a[inner, rows]^T b[inner, cols].
using MatmulTnKernel = MatmulKernel<true, false>;

}  // namespace interlock
