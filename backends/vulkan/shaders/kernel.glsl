// What the kernels of the table share: the params of a piece, its lanes, and loads and stores. The
// GLSL side of backends/kernels/dialect.h: a workgroup runs a slice, an invocation is a lane.
//
// Every kernel is compiled twice. Without BYTES its operands are words, so they must start at
// multiples of four bytes. With it they are bytes, at any alignment, and slower.
//
// Kernels restate the bodies of backends/kernels/ addition by addition, and `precise` keeps the
// compiler from fusing or reassociating them: additions and multiplications have the same bits as
// on the CPU. Divisions and square roots do where the device rounds them correctly, which Vulkan
// does not ask for; subnormal numbers may be flushed.
#extension GL_GOOGLE_include_directive : require
#ifdef BYTES
#extension GL_EXT_shader_8bit_storage : require
#endif

layout(local_size_x_id = 0) in;

layout(push_constant, std430) uniform Params {
  uint first_slice;  // Of this launch: the group base.
  uint element_count;
  uint block;
  uint rows;
  uint cols;
  uint inner;
  uint value;  // fill
  float factor;
  float eps;
  float beta1;
  float beta2;
  float weight_decay;
  uint step;
  float base;
  uint start;
  uint first_byte[5];  // Of each operand, in its binding.
} params;

uint slice_index() { return params.first_slice + gl_WorkGroupID.x; }
uint lane_index() { return gl_LocalInvocationID.x; }
uint lane_count() { return gl_WorkGroupSize.x; }

// The column of a kernel that gives each invocation at most one: the second grid extent has as many
// workgroups as the columns need.
uint column_index() { return gl_WorkGroupID.y * lane_count() + lane_index(); }

struct ElementRange {
  uint begin;
  uint end;
};

ElementRange block_of_slice(uint block, uint count) {
  const uint begin = slice_index() * block;
  return ElementRange(begin, count - begin < block ? count : begin + block);
}

// The bits that a store of `value` stores: one NaN stands for all.
uint canonical_bits(float value) {
  const uint bits = floatBitsToUint(value);
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
}

#ifdef BYTES
#define OPERAND(n, access) \
  layout(set = 0, binding = n, std430) access buffer Operand##n { uint8_t bytes[]; } operand##n;
#define LOAD_BYTE(n, at) uint(operand##n.bytes[at])
#define STORE_BYTE(n, at, value) operand##n.bytes[at] = uint8_t((value) & 0xffu)
#define LOAD_WORD(n, at)                                       \
  (LOAD_BYTE(n, at) | LOAD_BYTE(n, (at) + 1u) << 8 |           \
   LOAD_BYTE(n, (at) + 2u) << 16 | LOAD_BYTE(n, (at) + 3u) << 24)
#define STORE_WORD(n, at, word)             \
  {                                         \
    const uint bits_ = word;                \
    const uint at_ = at;                    \
    STORE_BYTE(n, at_, bits_);              \
    STORE_BYTE(n, at_ + 1u, bits_ >> 8);    \
    STORE_BYTE(n, at_ + 2u, bits_ >> 16);   \
    STORE_BYTE(n, at_ + 3u, bits_ >> 24);   \
  }
#else
#define OPERAND(n, access) \
  layout(set = 0, binding = n, std430) access buffer Operand##n { uint words[]; } operand##n;
#define LOAD_WORD(n, at) operand##n.words[(at) >> 2]
#define STORE_WORD(n, at, word) operand##n.words[(at) >> 2] = word
#endif

#define LOAD_F32(n, element) uintBitsToFloat(LOAD_WORD(n, params.first_byte[n] + 4u * (element)))
#define LOAD_ID(n, element, count) \
  (LOAD_WORD(n, params.first_byte[n] + 4u * (element)) % (count))
#define STORE_F32(n, element, value) \
  STORE_WORD(n, params.first_byte[n] + 4u * (element), canonical_bits(value))
