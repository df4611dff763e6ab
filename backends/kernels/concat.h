// concat: y[rows, inner + cols] has the columns of a[rows, inner] in front of those of b[rows,
// cols]. A slice is a row.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct ConcatKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t first = params.inner;
    const uint64_t second = params.cols;
    const uint64_t row = slice * (first + second);
    for (uint64_t i = lane.index(); i < first; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(0, slice * first + i));
    }
    for (uint64_t i = lane.index(); i < second; i += lane.count()) {
      memory.store_f32(2, row + first + i, memory.load_f32(1, slice * second + i));
    }
  }
};

}  // namespace interlock
