// col_sum_vjp: the VJP of col_sum: gx[rows, cols] has g[cols] in every row. A slice is a row.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct ColSumVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice * params.cols;
    for (uint32_t i = lane.index(); i < params.cols; i += lane.count()) {
      memory.store_f32(1, row + i, memory.load_f32(0, i));
    }
  }
};

}  // namespace interlock
