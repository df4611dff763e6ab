// adamw: a step of Adam with decoupled weight decay (I. Loshchilov, F. Hutter, ICLR 2019):
//   m = beta1 m + (1 - beta1) g        m' = m / (1 - beta1^step)
//   v = beta2 v + (1 - beta2) (g g)    v' = v / (1 - beta2^step)
//   p = p (1 - lr weight_decay) - lr (m' / (sqrt(v') + eps))
// A slice is a block of elements; each is read before it is written.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

struct AdamwKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const ElementRange block = block_of_slice(slice, params.block, params.element_count);
    const float m_divisor = 1.0f - power_f32(params.beta1, params.step);
    const float v_divisor = 1.0f - power_f32(params.beta2, params.step);
    const float m_share = 1.0f - params.beta1;
    const float v_share = 1.0f - params.beta2;
    const float kept = 1.0f - params.factor * params.weight_decay;
    for (uint64_t i = block.begin + lane.index(); i < block.end; i += lane.count()) {
      const float g = memory.load_f32(0, i);
      const float p = memory.load_f32(1, i);
      const float m = params.beta1 * memory.load_f32(2, i) + m_share * g;
      const float v = params.beta2 * memory.load_f32(3, i) + v_share * (g * g);
      const float root = square_root_f32(v / v_divisor);
      const float direction = m / m_divisor / (root + params.eps);
      memory.store_f32(1, i, p * kept - params.factor * direction);
      memory.store_f32(2, i, m);
      memory.store_f32(3, i, v);
    }
  }
};

}  // namespace interlock
