// silu_vjp: the VJP of silu, from its input: gx = g s (1 + x (1 - s)) with s = 1 / (1 + exp(-x)).
// A slice is a block of elements. NaN where x is infinite: 0 times infinity.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct SiluVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const ElementRange block = block_of_slice(slice, params.block, params.element_count);
    for (uint64_t i = block.begin + lane.index(); i < block.end; i += lane.count()) {
      const float x = memory.load_f32(0, i);
      const float s = 1.0f / (1.0f + exp_f32(-x));
      const float derivative = s * (1.0f + x * (1.0f - s));
      memory.store_f32(2, i, memory.load_f32(1, i) * derivative);
    }
  }
};

}  // namespace interlock
