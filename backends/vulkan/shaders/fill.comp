// fill: y = value, byte by byte.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernel.glsl"

OPERAND(0, writeonly)

void main() {
  const ElementRange block = block_of_slice(params.block, params.element_count);
#ifdef BYTES
  for (uint i = block.begin + lane_index(); i < block.end; i += lane_count()) {
    STORE_BYTE(0, params.first_byte[0] + i, params.value);
  }
#else
  const uint word = params.value * 0x01010101u;
  for (uint i = block.begin + 4 * lane_index(); i < block.end; i += 4 * lane_count()) {
    STORE_WORD(0, params.first_byte[0] + i, word);
  }
#endif
}
