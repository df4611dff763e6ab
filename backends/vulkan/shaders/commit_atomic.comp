// Commits late atomics: applies the operand bytes of a staging copy, binding 1, to memory. The copy
// has the alignment of the memory, so that words correspond.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "mix_window.glsl"

ATOMIC_OPERAND(0)
layout(set = 0, binding = 1, std430) readonly buffer Staged { uint words[]; } staged;

uint with_atomics(uint old, uint w, uint operand) {
  uint word = old;
  for (uint i = 0; i < 4; ++i) {
    const uint at = 4 * w + i;
    if (at < params.first_byte || at >= params.first_byte + params.size_bytes) continue;
    const uint next =
        atomic_result(params.atomic_op, (old >> (8 * i)) & 0xffu, (operand >> (8 * i)) & 0xffu);
    word = (word & ~(0xffu << (8 * i))) | next << (8 * i);
  }
  return word;
}

void main() {
  const uint end = params.first_byte + params.size_bytes;
  uint w = params.first_byte / 4 + gl_WorkGroupID.x * gl_WorkGroupSize.x * kWordsPerLane +
           gl_LocalInvocationID.x;
  for (uint n = 0; n < kWordsPerLane && 4 * w < end; ++n, w += gl_WorkGroupSize.x) {
    const uint operand = staged.words[w];
    UPDATE_WORD(0, w, with_atomics(old, w, operand))
  }
}
