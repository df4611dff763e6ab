// softmax_vjp: the VJP of softmax, from its output: gx = y (g - sum(y g)), per row.
// A slice is a row. The sum comes first; then each element is read before it is written, and never
// again: in place is safe, on y and on g. (A body that streams, adding to gx what it still has to
// read, would not bear it: that is how gradients go wrong under a planner that knows no contract.)
//
// A NaN in a row of y or g makes the row NaN; so does an infinity beside a 0 of the other.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/reduction.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct SoftmaxVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint32_t cols = params.cols;
    const uint64_t row = slice * cols;
    const float dot = sum_over(lane, cols, [&](uint32_t i) {
      return memory.load_f32(0, row + i) * memory.load_f32(1, row + i);
    });
    for (uint32_t i = lane.index(); i < cols; i += lane.count()) {
      const float y = memory.load_f32(0, row + i);
      const float g = memory.load_f32(1, row + i);
      memory.store_f32(2, row + i, y * (g - dot));
    }
  }
};

}  // namespace interlock
