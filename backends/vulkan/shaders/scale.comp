// scale: y = factor * x.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)
OPERAND(1, writeonly)

void main() {
  const ElementRange block = block_of_slice(params.block, params.element_count);
  for (uint i = block.begin + lane_index(); i < block.end; i += lane_count()) {
    const float x = LOAD_F32(0, i);
    precise const float y = params.factor * x;
    STORE_F32(1, i, y);
  }
}
