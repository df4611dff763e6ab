// matmul_nt: y[rows, cols] = a[rows, inner] b[cols, inner]^T. A slice is a row of y.
#pragma once

#include "backends/kernels/matmul.h"

namespace interlock {

struct MatmulNtLayout {
  KERNEL_FUNCTION static uint64_t a_index(const KernelParams& params, uint64_t row, uint64_t k) {
    return row * params.inner + k;
  }
  KERNEL_FUNCTION static uint64_t b_index(const KernelParams& params, uint64_t k, uint64_t col) {
    return col * params.inner + k;
  }
};

using MatmulNtKernel = MatmulKernel<MatmulNtLayout>;

}  // namespace interlock
