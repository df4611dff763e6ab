// The dialect that kernel bodies are written in. One body serves as CUDA kernel, as the same kernel
// emulated on the host, and as a slice on the CPU: it only sees a Lane, which says which of the
// cooperating threads it is, and a Memory, through which all loads and stores go.
//
//   struct AddKernel {
//     template <class Lane, class Memory>
//     KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory,
//                                     const KernelParams& params, uint64_t slice);
//   };
//
// Lane:   uint32_t index() const, count() const   this lane, and how many run the slice
//         void sync() const                       waits for all lanes of the slice
//         float& shared(uint32_t i) const         i < kSharedCount, one array per slice
//         uint32_t& shared_word(uint32_t i) const likewise, other storage
// Memory: float load_f32(int operand, uint64_t element), store_f32(int, uint64_t, float)
//         uint8_t load_byte(int operand, uint64_t offset), store_byte(int, uint64_t, uint8_t)
//         uint32_t load_word(int operand, uint64_t offset)    also of i32 operands
//   of mix only:
//         store_word(int operand, uint64_t offset, uint32_t)
//         atomic_byte(int operand, uint64_t offset, AtomicOp, uint8_t value)
//         uint64_t size_bytes(int operand), AccessMode mode(int operand)
//
// Elements and offsets count from the start of the operand. Operands may be unaligned and may
// overlap: a body must be right for every sharing that the kernel table allows.
//
// The numbers of a body do not depend on the lane count, the compiler or the machine: sums have a
// fixed shape (reduction.h), elementary functions are our own (elementary.h), nothing is fused, and
// store_f32 stores every NaN as canonical(), because compilers differ in which payload survives.
//
// Values that are not finite follow IEEE 754 through the expression of the kernel, in its order: an
// overflow gives an infinity, infinity minus infinity and zero times infinity give NaN, and a NaN
// stays one; no body looks for special values, but for exp (elementary.h) and maxima (reduction.h).
// Zeros keep the sign that the operations give them, and subnormal numbers count. Devices that
// promise less may flush subnormals, lose signs of zeros, and have anything for what is not finite:
// Capabilities::rounds_correctly says which (docs/numbers.md).
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#define KERNEL_FUNCTION __host__ __device__ inline
#else
#define KERNEL_FUNCTION inline
#endif

namespace interlock {

inline constexpr uint32_t kSharedCount = 32;

KERNEL_FUNCTION float f32_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

KERNEL_FUNCTION uint32_t bits_of_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// The value that a store of `value` stores.
KERNEL_FUNCTION float canonical(float value) {
  return value == value ? value : f32_of_bits(0x7fc00000u);
}

// What an id or a label counts among `count`: it is unsigned, and starts again after the last one,
// so that no bytes lead outside of a table.
template <class Memory>
KERNEL_FUNCTION uint32_t load_id(Memory& memory, int operand, uint64_t element, uint32_t count) {
  return memory.load_word(operand, element * sizeof(uint32_t)) % count;
}

// A half-open range of elements.
struct ElementRange {
  uint64_t begin;
  uint64_t end;
};

// The elements of a slice that is a block of `block` elements out of `count`.
KERNEL_FUNCTION ElementRange block_of_slice(uint64_t slice, uint64_t block, uint64_t count) {
  const uint64_t begin = slice * block;
  return {begin, count - begin < block ? count : begin + block};
}

}  // namespace interlock
