// Loads and stores of words that may be short at the end of their operand: then missing bytes read
// as zeros, and only those there are get stored. The two widths are as in kernel.glsl.
#ifdef BYTES
#extension GL_EXT_shader_8bit_storage : require

#define OPERAND(n, access) \
  layout(set = 0, binding = n, std430) access buffer Operand##n { uint8_t bytes[]; } operand##n;
#define LOAD_BYTE(n, at) uint(operand##n.bytes[at])
#define STORE_BYTE(n, at, value) operand##n.bytes[at] = uint8_t((value) & 0xffu)
#define LOAD_SOME(n, at, byte_count)                          \
  (LOAD_BYTE(n, at) |                                         \
   ((byte_count) > 1 ? LOAD_BYTE(n, (at) + 1u) << 8 : 0u) |   \
   ((byte_count) > 2 ? LOAD_BYTE(n, (at) + 2u) << 16 : 0u) |  \
   ((byte_count) > 3 ? LOAD_BYTE(n, (at) + 3u) << 24 : 0u))
#define STORE_SOME(n, at, byte_count, word)                       \
  {                                                               \
    const uint bits_ = word;                                      \
    STORE_BYTE(n, at, bits_);                                     \
    if ((byte_count) > 1) STORE_BYTE(n, (at) + 1u, bits_ >> 8);   \
    if ((byte_count) > 2) STORE_BYTE(n, (at) + 2u, bits_ >> 16);  \
    if ((byte_count) > 3) STORE_BYTE(n, (at) + 3u, bits_ >> 24);  \
  }
#else
// Words are whole: the host takes this width only where every size is a multiple of four.
#define OPERAND(n, access) \
  layout(set = 0, binding = n, std430) access buffer Operand##n { uint words[]; } operand##n;
#define LOAD_SOME(n, at, byte_count) operand##n.words[(at) >> 2]
#define STORE_SOME(n, at, byte_count, word) operand##n.words[(at) >> 2] = word
#endif

// Atomics act on words, whatever the alignment: the words that hold the operand are bound.
#define ATOMIC_OPERAND(n) \
  layout(set = 0, binding = n, std430) buffer Operand##n { uint words[]; } operand##n;

// Replaces word `w` by `next`, an expression in `old`, as one atomic: other bytes of the word may
// belong to others.
#define UPDATE_WORD(n, w, next)                                               \
  {                                                                           \
    uint old = operand##n.words[w];                                           \
    for (;;) {                                                                \
      const uint found_ = atomicCompSwap(operand##n.words[w], old, next);     \
      if (found_ == old) break;                                               \
      old = found_;                                                           \
    }                                                                         \
  }
