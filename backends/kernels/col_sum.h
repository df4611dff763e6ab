// col_sum: y[cols] = sum of x[rows, cols] over rows. One lane adds a column, top to bottom.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct ColSumKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const ElementRange block = block_of_slice(slice, params.block, params.cols);
    for (uint64_t col = block.begin + lane.index(); col < block.end; col += lane.count()) {
      float sum = 0.0f;
      for (uint32_t row = 0; row < params.rows; ++row) {
        sum += memory.load_f32(0, uint64_t{row} * params.cols + col);
      }
      memory.store_f32(1, col, sum);
    }
  }
};

}  // namespace interlock
