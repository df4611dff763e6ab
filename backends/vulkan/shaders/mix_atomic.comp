// The second phase of mix for atomics, which act on the words that hold the window.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "mix_window.glsl"

ATOMIC_OPERAND(0)
layout(set = 0, binding = 1, std430) readonly buffer Digests { uint words[]; } digests;

uint with_atomics(uint old, uint w, uint seed) {
  uint word = old;
  for (uint i = 0; i < 4; ++i) {
    const uint at = 4 * w + i;
    if (at < params.first_byte || at >= params.first_byte + params.size_bytes) continue;
    const uint offset = 4 * params.first_word + at - params.first_byte;
    const uint byte = (old >> (8 * i)) & 0xffu;
    const uint next = atomic_result(params.atomic_op, byte, value_byte(seed, offset));
    word = (word & ~(0xffu << (8 * i))) | next << (8 * i);
  }
  return word;
}

void main() {
  const uint seed = seed_of(digests.words[params.digest_word], params.identity, params.position);
  const uint end = params.first_byte + params.size_bytes;
  uint w = params.first_byte / 4 + gl_WorkGroupID.x * gl_WorkGroupSize.x * kWordsPerLane +
           gl_LocalInvocationID.x;
  for (uint n = 0; n < kWordsPerLane && 4 * w < end; ++n, w += gl_WorkGroupSize.x) {
    UPDATE_WORD(0, w, with_atomics(old, w, seed))
  }
}
