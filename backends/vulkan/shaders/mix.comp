// mix in one workgroup and one dispatch, so that no sync of ours stands between its two phases and
// hides a missing barrier of the program. Operands come in groups by how they are accessed; what a
// dispatch does not use is bound to bytes that nobody else has, with size 0.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "mix_memory.glsl"
#include "mix_hash.glsl"

layout(local_size_x_id = 0) in;

const uint kOperandCount = 14;
const uint kSharedCount = 64;

// Of `places`: the first byte in the binding, the position among the operands, and two flags.
const uint kFirstByteMask = 0xfffu;
const uint kPositionShift = 12;
const uint kPositionMask = 0xffu;
const uint kIsDigested = 1u << 20;
const uint kIsPartial = 1u << 21;

layout(push_constant, std430) uniform Params {
  uint places[kOperandCount];
  uint sizes_bytes[kOperandCount];
  uint identity;
  uint atomic_op;
} params;

layout(set = 0, binding = 0, std140) uniform Uniform0 { uvec4 words[1024]; } operand0;
layout(set = 0, binding = 1, std140) uniform Uniform1 { uvec4 words[1024]; } operand1;
OPERAND(2, readonly)
OPERAND(3, readonly)
OPERAND(4, readonly)
OPERAND(5, readonly)
OPERAND(6, readonly)
OPERAND(7, writeonly)
OPERAND(8, writeonly)
OPERAND(9, writeonly)
OPERAND(10, )
OPERAND(11, )
ATOMIC_OPERAND(12)
ATOMIC_OPERAND(13)

shared uint lane_sums[kSharedCount];

uint lane_index() { return gl_LocalInvocationID.x; }
uint lane_count() { return gl_WorkGroupSize.x; }

uint first_byte(uint n) { return params.places[n] & kFirstByteMask; }
uint position(uint n) { return (params.places[n] >> kPositionShift) & kPositionMask; }

// Every lane adds its own words.
#define FOR_OWN_WORDS(n)                                                   \
  for (uint k = lane_index(), at = first_byte(n) + 4 * k, left = 0;        \
       4 * k < params.sizes_bytes[n] && (left = params.sizes_bytes[n] - 4 * k) > 0; \
       k += lane_count(), at += 4 * lane_count())

// Uniform operands at any alignment, from the one or two words that hold the bytes.
#define UNIFORM_WORD(n, w) operand##n.words[(w) >> 2][(w) & 3]
#define LOAD_UNIFORM(n, at, byte_count)                                      \
  low_bytes(UNIFORM_WORD(n, (at) >> 2) >> (8 * ((at) & 3)) |                 \
                (((at) & 3) != 0 && ((at) & 3) + (byte_count) > 4            \
                     ? UNIFORM_WORD(n, ((at) >> 2) + 1) << (32 - 8 * ((at) & 3)) \
                     : 0u),                                                  \
            byte_count)

#define DIGEST_UNIFORM(n) \
  FOR_OWN_WORDS(n) { sum += digest_term(position(n), k, LOAD_UNIFORM(n, at, left)); }
#define DIGEST(n) \
  FOR_OWN_WORDS(n) { sum += digest_term(position(n), k, LOAD_SOME(n, at, left)); }
#define DIGEST_IF_READ(n) \
  if ((params.places[n] & kIsDigested) != 0) { DIGEST(n) }

#define OVERWRITE(n)                                                             \
  {                                                                              \
    const uint seed = seed_of(digest, params.identity, position(n));             \
    FOR_OWN_WORDS(n) { STORE_SOME(n, at, left, value_of(seed, k)); }             \
  }

#define UPDATE(n)                                                                      \
  if ((params.places[n] & kIsPartial) != 0) {                                          \
    const uint seed = seed_of(digest, params.identity, position(n));                   \
    FOR_OWN_WORDS(n) {                                                                 \
      const uint old = LOAD_SOME(n, at, left);                                         \
      STORE_SOME(n, at, left, partly_overwritten(old, value_of(seed, k)));             \
    }                                                                                  \
  } else {                                                                             \
    OVERWRITE(n)                                                                       \
  }

// Word `w` of an atomic operand that lies in bytes [begin, end) of its binding.
uint with_atomics(uint old, uint w, uint begin, uint end, uint seed) {
  uint word = old;
  for (uint i = 0; i < 4; ++i) {
    const uint at = 4 * w + i;
    if (at < begin || at >= end) continue;
    const uint byte = (old >> (8 * i)) & 0xffu;
    const uint next = atomic_result(params.atomic_op, byte, value_byte(seed, at - begin));
    word = (word & ~(0xffu << (8 * i))) | next << (8 * i);
  }
  return word;
}

#define APPLY_ATOMICS(n)                                                          \
  if (params.sizes_bytes[n] > 0) {                                                \
    const uint seed = seed_of(digest, params.identity, position(n));              \
    const uint begin = first_byte(n);                                             \
    const uint end = begin + params.sizes_bytes[n];                               \
    for (uint w = begin / 4 + lane_index(); 4 * w < end; w += lane_count()) {     \
      UPDATE_WORD(n, w, with_atomics(old, w, begin, end, seed))                   \
    }                                                                             \
  }

void main() {
  uint sum = 0;
  DIGEST_UNIFORM(0)
  DIGEST_UNIFORM(1)
  DIGEST(2)
  DIGEST(3)
  DIGEST(4)
  DIGEST(5)
  DIGEST(6)
  DIGEST_IF_READ(10)
  DIGEST_IF_READ(11)
  lane_sums[lane_index()] = sum;
  memoryBarrierBuffer();
  barrier();  // All lanes have made their loads: an output may lie on an input.
  uint digest = 0;
  for (uint i = 0; i < lane_count(); ++i) digest += lane_sums[i];
  OVERWRITE(7)
  OVERWRITE(8)
  OVERWRITE(9)
  UPDATE(10)
  UPDATE(11)
  APPLY_ATOMICS(12)
  APPLY_ATOMICS(13)
}
