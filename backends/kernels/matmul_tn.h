// matmul_tn: y[rows, cols] = a[inner, rows]^T b[inner, cols]. A slice is a row of y.
#pragma once

#include "backends/kernels/matmul.h"

namespace interlock {

struct MatmulTnLayout {
  KERNEL_FUNCTION static uint64_t a_index(const KernelParams& params, uint64_t row, uint64_t k) {
    return k * params.rows + row;
  }
  KERNEL_FUNCTION static uint64_t b_index(const KernelParams& params, uint64_t k, uint64_t col) {
    return k * params.cols + col;
  }
};

using MatmulTnKernel = MatmulKernel<MatmulTnLayout>;

}  // namespace interlock
