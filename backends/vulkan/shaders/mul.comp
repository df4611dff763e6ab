// mul: y = a * b.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)
OPERAND(1, readonly)
OPERAND(2, writeonly)

void main() {
  const ElementRange block = block_of_slice(params.block, params.element_count);
  for (uint i = block.begin + lane_index(); i < block.end; i += lane_count()) {
    precise const float y = LOAD_F32(0, i) * LOAD_F32(1, i);
    STORE_F32(2, i, y);
  }
}
