// The second phase of mix: overwrites a window of one operand.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "mix_window.glsl"

OPERAND(0, writeonly)
layout(set = 0, binding = 1, std430) readonly buffer Digests { uint words[]; } digests;

void main() {
  const uint seed = seed_of(digests.words[params.digest_word], params.identity, params.position);
  FOR_OWN_WORDS {
    const uint value = value_of(seed, params.first_word + k);
    STORE_SOME(0, params.first_byte + 4 * k, byte_count_of(k), value);
  }
}
