// split: the VJP of concat: ga[rows, inner] has the first columns of g[rows, inner + cols],
// gb[rows, cols] the others. A slice is a row.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct SplitKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t first = params.inner;
    const uint64_t second = params.cols;
    const uint64_t row = slice * (first + second);
    for (uint64_t i = lane.index(); i < first; i += lane.count()) {
      memory.store_f32(1, slice * first + i, memory.load_f32(0, row + i));
    }
    for (uint64_t i = lane.index(); i < second; i += lane.count()) {
      memory.store_f32(2, slice * second + i, memory.load_f32(0, row + first + i));
    }
  }
};

}  // namespace interlock
