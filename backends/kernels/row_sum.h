// row_sum: y[rows] = sum of x[rows, cols] over cols. A slice is a row.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct RowSumKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice * params.cols;
    const float sum =
        sum_over(lane, params.cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    if (lane.index() == 0) memory.store_f32(1, slice, sum);
  }
};

}  // namespace interlock
