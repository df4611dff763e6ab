// sgd: p = p - lr g.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)  // g
OPERAND(1, )  // p

void main() {
  const ElementRange block = block_of_slice(params.block, params.element_count);
  for (uint i = block.begin + lane_index(); i < block.end; i += lane_count()) {
    precise const float p = LOAD_F32(1, i) - params.factor * LOAD_F32(0, i);
    STORE_F32(1, i, p);
  }
}
