// embedding_vjp: row k of gtable[rows, cols] is the sum of the rows r of g[inner, cols] with ids[r]
// = k, from the first to the last; 0 where there is none. Ids are taken modulo rows, as unsigned
// numbers (load_id). A slice is a row of gtable, and one lane adds a column of it: a scatter that
// gathers, so that sums have an order, and no addition is atomic.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct EmbeddingVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    for (uint32_t col = lane.index(); col < params.cols; col += lane.count()) {
      float sum = 0.0f;
      for (uint32_t r = 0; r < params.inner; ++r) {
        if (load_id(memory, 0, r, params.rows) != slice) continue;
        sum += memory.load_f32(1, uint64_t{r} * params.cols + col);
      }
      memory.store_f32(2, slice * params.cols + col, sum);
    }
  }
};

}  // namespace interlock
