// silu_vjp: gx = g s (1 + x (1 - s)) with s = 1 / (1 + exp(-x)).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"
#include "elementary.glsl"

OPERAND(0, readonly)   // x
OPERAND(1, readonly)   // g
OPERAND(2, writeonly)  // gx

void main() {
  const ElementRange block = block_of_slice(params.block, params.element_count);
  for (uint i = block.begin + lane_index(); i < block.end; i += lane_count()) {
    const float x = LOAD_F32(0, i);
    precise const float s = 1.0 / (1.0 + exp_f32(-x));
    precise const float derivative = s * (1.0 + x * (1.0 - s));
    precise const float gx = LOAD_F32(1, i) * derivative;
    STORE_F32(2, i, gx);
  }
}
