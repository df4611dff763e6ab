// accumulate: acc = acc + g.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)  // g
OPERAND(1, )  // acc

void main() {
  const ElementRange block = block_of_slice(params.block, params.element_count);
  for (uint i = block.begin + lane_index(); i < block.end; i += lane_count()) {
    precise const float acc = LOAD_F32(1, i) + LOAD_F32(0, i);
    STORE_F32(1, i, acc);
  }
}
