// copy: y = x, byte by byte.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, readonly)
OPERAND(1, writeonly)

void main() {
  const ElementRange block = block_of_slice(params.block, params.element_count);
#ifdef BYTES
  for (uint i = block.begin + lane_index(); i < block.end; i += lane_count()) {
    STORE_BYTE(1, params.first_byte[1] + i, LOAD_BYTE(0, params.first_byte[0] + i));
  }
#else
  for (uint i = block.begin + 4 * lane_index(); i < block.end; i += 4 * lane_count()) {
    STORE_WORD(1, params.first_byte[1] + i, LOAD_WORD(0, params.first_byte[0] + i));
  }
#endif
}
