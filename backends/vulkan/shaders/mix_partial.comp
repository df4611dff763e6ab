// The second phase of mix for a dispatch that writes partially: what was there matters.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "mix_window.glsl"

OPERAND(0, )
layout(set = 0, binding = 1, std430) readonly buffer Digests { uint words[]; } digests;

void main() {
  const uint seed = seed_of(digests.words[params.digest_word], params.identity, params.position);
  FOR_OWN_WORDS {
    const uint at = params.first_byte + 4 * k;
    const uint old = LOAD_SOME(0, at, byte_count_of(k));
    const uint value = value_of(seed, params.first_word + k);
    STORE_SOME(0, at, byte_count_of(k), partly_overwritten(old, value));
  }
}
