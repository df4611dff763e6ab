// rope_vjp: the VJP of rope, which turns back by the same angle. A slice is a row. A lane reads
// both elements of a pair before it writes them: in place is safe.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "backends/kernels/rope.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct RopeVjpKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice * params.cols;
    for (uint32_t i = lane.index(); i < params.cols / 2; i += lane.count()) {
      const SineCosine turn = rope_turn(params, static_cast<uint32_t>(slice), i);
      const float x = memory.load_f32(0, row + 2 * i);
      const float y = memory.load_f32(0, row + 2 * i + 1);
      memory.store_f32(1, row + 2 * i, x * turn.cosine + y * turn.sine);
      memory.store_f32(1, row + 2 * i + 1, y * turn.cosine - x * turn.sine);
    }
  }
};

}  // namespace interlock
