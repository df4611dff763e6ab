// adamw: a step of Adam with decoupled weight decay, as backends/kernels/adamw.h has it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "elementary.glsl"

OPERAND(0, readonly)  // g
OPERAND(1, )  // p
OPERAND(2, )  // m
OPERAND(3, )  // v

void main() {
  const ElementRange block = block_of_slice(params.block, params.element_count);
  precise const float m_divisor = 1.0 - power_f32(params.beta1, params.step);
  precise const float v_divisor = 1.0 - power_f32(params.beta2, params.step);
  precise const float m_share = 1.0 - params.beta1;
  precise const float v_share = 1.0 - params.beta2;
  precise const float kept = 1.0 - params.factor * params.weight_decay;
  for (uint i = block.begin + lane_index(); i < block.end; i += lane_count()) {
    const float g = LOAD_F32(0, i);
    precise const float m = params.beta1 * LOAD_F32(2, i) + m_share * g;
    precise const float v = params.beta2 * LOAD_F32(3, i) + v_share * (g * g);
    precise const float root = sqrt(v / v_divisor);
    precise const float direction = m / m_divisor / (root + params.eps);
    precise const float p = LOAD_F32(1, i) * kept - params.factor * direction;
    STORE_F32(1, i, p);
    STORE_F32(2, i, m);
    STORE_F32(3, i, v);
  }
}
