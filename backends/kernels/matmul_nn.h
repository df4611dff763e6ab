// matmul_nn: y[rows, cols] = a[rows, inner] b[inner, cols]. A slice is a row of y.
#pragma once

#include "backends/kernels/matmul.h"

namespace interlock {

struct MatmulNnLayout {
  KERNEL_FUNCTION static uint64_t a_index(const KernelParams& params, uint64_t row, uint64_t k) {
    return row * params.inner + k;
  }
  KERNEL_FUNCTION static uint64_t b_index(const KernelParams& params, uint64_t k, uint64_t col) {
    return k * params.cols + col;
  }
};

using MatmulNnKernel = MatmulKernel<MatmulNnLayout>;

}  // namespace interlock
