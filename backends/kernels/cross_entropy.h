// cross_entropy: loss[r] = log(sum(exp(x - max(x)))) - (x[label] - max(x)), x row r of the logits.
// A slice is a row. Labels are taken modulo cols, as unsigned numbers (load_id).
//
// A row that has a NaN or +inf, or nothing but -inf, has the loss NaN; a label at -inf beside
// numbers has an infinite one.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct CrossEntropyKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float largest =
        max_over(lane, cols, [&](uint32_t i) { return memory.load_f32(0, row + i); });
    const float sum = sum_over(
        lane, cols, [&](uint32_t i) { return exp_f32(memory.load_f32(0, row + i) - largest); });
    if (lane.index() != 0) return;
    const float chosen = memory.load_f32(0, row + load_id(memory, 1, slice, cols));
    memory.store_f32(2, slice, log_f32(sum) - (chosen - largest));
  }
};

}  // namespace interlock
