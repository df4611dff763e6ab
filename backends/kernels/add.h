// add: y = a + b.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct AddKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const ElementRange block = block_of_slice(slice, params.block, params.element_count);
    for (uint64_t i = block.begin + lane.index(); i < block.end; i += lane.count()) {
      memory.store_f32(2, i, memory.load_f32(0, i) + memory.load_f32(1, i));
    }
  }
};

}  // namespace interlock
