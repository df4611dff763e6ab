// The phases of mix in several dispatches, for operands too many or too large for one workgroup:
// each reads or writes a window of one operand. The window starts at a multiple of four bytes of the
// operand, and lies in binding 0.
#include "mix_memory.glsl"
#include "mix_hash.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant, std430) uniform Params {
  uint first_byte;  // Of the window, in its binding.
  uint size_bytes;  // Of the window.
  uint first_word;  // Of the window, in the operand.
  uint position;    // Of the operand.
  uint identity;
  uint atomic_op;
  uint digest_word;  // Where the digest is, in binding 1.
} params;

// An invocation has this many words.
const uint kWordsPerLane = 128;

// The words of the invocation, strided by the lanes of the workgroup.
#define FOR_OWN_WORDS                                                                       \
  for (uint n = 0, k = gl_WorkGroupID.x * gl_WorkGroupSize.x * kWordsPerLane +              \
                       gl_LocalInvocationID.x;                                              \
       n < kWordsPerLane && 4 * k < params.size_bytes; ++n, k += gl_WorkGroupSize.x)

uint byte_count_of(uint k) { return params.size_bytes - 4 * k; }
