// transpose: y[cols, rows] = x[rows, cols]^T, its own VJP. A slice is a row of y, and reads a
// column.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct TransposeKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    for (uint32_t i = lane.index(); i < params.rows; i += lane.count()) {
      memory.store_f32(1, slice * params.rows + i,
                       memory.load_f32(0, uint64_t{i} * params.cols + slice));
    }
  }
};

}  // namespace interlock
