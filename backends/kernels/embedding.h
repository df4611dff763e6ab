// embedding: row r of y[rows, cols] is row ids[r] of table[inner, cols]. A slice is a row. Ids are
// taken modulo inner, as unsigned numbers (load_id).
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct EmbeddingKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t entry = uint64_t{load_id(memory, 0, slice, params.inner)} * params.cols;
    const uint64_t row = slice * params.cols;
    for (uint32_t i = lane.index(); i < params.cols; i += lane.count()) {
      memory.store_f32(2, row + i, memory.load_f32(1, entry + i));
    }
  }
};

}  // namespace interlock
