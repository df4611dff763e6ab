// silu: y = x / (1 + exp(-x)).
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct SiluKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const ElementRange block = block_of_slice(slice, params.block, params.element_count);
    for (uint64_t i = block.begin + lane.index(); i < block.end; i += lane.count()) {
      const float x = memory.load_f32(0, i);
      memory.store_f32(1, i, x / (1.0f + exp_f32(-x)));
    }
  }
};

}  // namespace interlock
