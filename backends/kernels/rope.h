// Rotary position embedding. Elements 2i and 2i + 1 of row r, as a point of the plane, turned by
// (r + start) base^(-2i / cols). A slice is a row. A lane reads both elements of a pair before it
// writes them: in place is safe.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

// Of pair `i` of a row. base^(-q) is exp(-(q ln(base))), so that pair 0 turns by whole numbers.
KERNEL_FUNCTION SineCosine rope_turn(const KernelParams& params, uint32_t row, uint32_t i) {
  const float q = static_cast<float>(2 * i) / static_cast<float>(params.cols);
  const float frequency = exp_f32(-(q * log_f32(params.base)));
  return sine_cosine_f32(static_cast<float>(params.start + row) * frequency);
}

template <bool kTurnsBack>
struct RotationKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const uint64_t row = slice * params.cols;
    for (uint32_t i = lane.index(); i < params.cols / 2; i += lane.count()) {
      const SineCosine turn = rope_turn(params, static_cast<uint32_t>(slice), i);
      const float sine = kTurnsBack ? -turn.sine : turn.sine;
      const float x = memory.load_f32(0, row + 2 * i);
      const float y = memory.load_f32(0, row + 2 * i + 1);
      memory.store_f32(1, row + 2 * i, x * turn.cosine - y * sine);
      memory.store_f32(1, row + 2 * i + 1, x * sine + y * turn.cosine);
    }
  }
};

using RopeKernel = RotationKernel<false>;

// rope_vjp: the VJP of rope, which turns back by the same angle.
using RopeVjpKernel = RotationKernel<true>;

}  // namespace interlock
