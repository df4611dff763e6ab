// The first phase of mix: adds a window of one operand to the digest.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "mix_window.glsl"

OPERAND(0, readonly)
ATOMIC_OPERAND(1)

void main() {
  uint sum = 0;
  FOR_OWN_WORDS {
    const uint word = LOAD_SOME(0, params.first_byte + 4 * k, byte_count_of(k));
    sum += digest_term(params.position, params.first_word + k, word);
  }
  atomicAdd(operand1.words[params.digest_word], sum);
}
