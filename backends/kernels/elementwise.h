// Kernels that compute each element from those at the same place. A slice is a block of elements.
#pragma once

#include "backends/kernels/dialect.h"
#include "backends/kernels/elementary.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

// `Element` says what becomes of element `i`: at(memory, params, i).
template <class Element>
struct ElementwiseKernel {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t slice) {
    const ElementRange block = block_of_slice(slice, params.block, params.element_count);
    for (uint64_t i = block.begin + lane.index(); i < block.end; i += lane.count()) {
      Element::at(memory, params, i);
    }
  }
};

// fill: y = value, byte by byte.
struct FillElement {
  template <class Memory>
  KERNEL_FUNCTION static void at(Memory& memory, const KernelParams& params, uint64_t i) {
    memory.store_byte(0, i, static_cast<uint8_t>(params.byte));
  }
};
using FillKernel = ElementwiseKernel<FillElement>;

// copy: y = x, byte by byte.
struct CopyElement {
  template <class Memory>
  KERNEL_FUNCTION static void at(Memory& memory, const KernelParams&, uint64_t i) {
    memory.store_byte(1, i, memory.load_byte(0, i));
  }
};
using CopyKernel = ElementwiseKernel<CopyElement>;

// add: y = a + b.
struct AddElement {
  template <class Memory>
  KERNEL_FUNCTION static void at(Memory& memory, const KernelParams&, uint64_t i) {
    memory.store_f32(2, i, memory.load_f32(0, i) + memory.load_f32(1, i));
  }
};
using AddKernel = ElementwiseKernel<AddElement>;

// mul: y = a * b.
struct MulElement {
  template <class Memory>
  KERNEL_FUNCTION static void at(Memory& memory, const KernelParams&, uint64_t i) {
    memory.store_f32(2, i, memory.load_f32(0, i) * memory.load_f32(1, i));
  }
};
using MulKernel = ElementwiseKernel<MulElement>;

// scale: y = factor * x.
struct ScaleElement {
  template <class Memory>
  KERNEL_FUNCTION static void at(Memory& memory, const KernelParams& params, uint64_t i) {
    memory.store_f32(1, i, params.factor * memory.load_f32(0, i));
  }
};
using ScaleKernel = ElementwiseKernel<ScaleElement>;

// silu: y = x / (1 + exp(-x)).
struct SiluElement {
  template <class Memory>
  KERNEL_FUNCTION static void at(Memory& memory, const KernelParams&, uint64_t i) {
    const float x = memory.load_f32(0, i);
    memory.store_f32(1, i, x / (1.0f + exp_f32(-x)));
  }
};
using SiluKernel = ElementwiseKernel<SiluElement>;

// silu_vjp: the VJP of silu, from its input: gx = g s (1 + x (1 - s)) with s = 1 / (1 + exp(-x)).
// NaN where x is infinite: 0 times infinity.
struct SiluVjpElement {
  template <class Memory>
  KERNEL_FUNCTION static void at(Memory& memory, const KernelParams&, uint64_t i) {
    const float x = memory.load_f32(0, i);
    const float s = 1.0f / (1.0f + exp_f32(-x));
    const float derivative = s * (1.0f + x * (1.0f - s));
    memory.store_f32(2, i, memory.load_f32(1, i) * derivative);
  }
};
using SiluVjpKernel = ElementwiseKernel<SiluVjpElement>;

// accumulate: acc = acc + g.
struct AccumulateElement {
  template <class Memory>
  KERNEL_FUNCTION static void at(Memory& memory, const KernelParams&, uint64_t i) {
    memory.store_f32(1, i, memory.load_f32(1, i) + memory.load_f32(0, i));
  }
};
using AccumulateKernel = ElementwiseKernel<AccumulateElement>;

// sgd: p = p - lr g, a step of gradient descent.
struct SgdElement {
  template <class Memory>
  KERNEL_FUNCTION static void at(Memory& memory, const KernelParams& params, uint64_t i) {
    memory.store_f32(1, i, memory.load_f32(1, i) - params.factor * memory.load_f32(0, i));
  }
};
using SgdKernel = ElementwiseKernel<SgdElement>;

// adamw: a step of Adam with decoupled weight decay (I. Loshchilov, F. Hutter, ICLR 2019):
//   m = beta1 m + (1 - beta1) g        m' = m / (1 - beta1^step)
//   v = beta2 v + (1 - beta2) (g g)    v' = v / (1 - beta2^step)
//   p = p (1 - lr weight_decay) - lr (m' / (sqrt(v') + eps))
// A slice is a block of elements; each is read before it is written.
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
