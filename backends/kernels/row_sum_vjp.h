// row_sum_vjp: the VJP of row_sum: row r of gx[rows, cols] is all g[r]. A slice is a row.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct RowSumVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice * params.cols;
    for (uint32_t i = lane.index(); i < params.cols; i += lane.count()) {
      memory.store_f32(1, row + i, memory.load_f32(0, slice));
    }
  }
};

}  // namespace interlock
