// The memory of the kernel dialect (backends/kernels/dialect.h) on a device of CUDA.
//
// Operands may share bytes, which is the subject: no pointer is __restrict__, nothing is read
// through __ldg, and a value is loaded where the body says so.
#pragma once

#include <cstdint>
#include <cstring>

#include "backends/cuda/kernels/device_words.h"
#include "backends/cuda/kernels/launch_arguments.h"
#include "backends/kernels/dialect.h"
#include "backends/kernels/mix.h"

namespace interlock {
inline namespace DEVICE_CODE {

// Devices load and store whole words only where they are aligned.
__device__ inline bool is_word_aligned(const uint8_t* data) {
  return reinterpret_cast<uintptr_t>(data) % sizeof(uint32_t) == 0;
}

__device__ inline uint32_t load_any_word(const uint8_t* data) {
  uint32_t word;
  if (is_word_aligned(data)) {
    memcpy(&word, __builtin_assume_aligned(data, sizeof word), sizeof word);
    return word;
  }
  return uint32_t{data[0]} | uint32_t{data[1]} << 8 | uint32_t{data[2]} << 16 |
         uint32_t{data[3]} << 24;
}

__device__ inline void store_any_word(uint8_t* data, uint32_t word) {
  if (is_word_aligned(data)) {
    memcpy(__builtin_assume_aligned(data, sizeof word), &word, sizeof word);
    return;
  }
  for (int i = 0; i < 4; ++i) data[i] = static_cast<uint8_t>(word >> (8 * i));
}

// Replaces *byte by atomic_result(op, *byte, value). CUDA has no atomics on bytes: the aligned word
// around it is compared and swapped until no neighbour changed in between.
__device__ inline void update_byte(uint8_t* byte, AtomicOp op, uint8_t value) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(byte) % sizeof(unsigned int);
  auto* const word = reinterpret_cast<unsigned int*>(byte - offset);
  const int shift = static_cast<int>(8 * offset);
  unsigned int old = atomicCAS(word, 0u, 0u);  // An atomic load: others may update neighbours.
  for (;;) {
    const uint8_t updated = atomic_result(op, static_cast<uint8_t>(old >> shift), value);
    const unsigned int next = (old & ~(0xffu << shift)) | static_cast<unsigned int>(updated)
                                                              << shift;
    const unsigned int found = atomicCAS(word, old, next);
    if (found == old) return;
    old = found;
  }
}

class DeviceMemory {
 public:
  // Requires: `operands` outlives the memory.
  __device__ explicit DeviceMemory(const LaunchOperand* operands) : operands_(operands) {}

  __device__ float load_f32(int operand, uint64_t element) const {
    return f32_of_bits(load_word(operand, element * sizeof(float)));
  }
  __device__ void store_f32(int operand, uint64_t element, float value) const {
    store_word(operand, element * sizeof(float), bits_of_f32(canonical(value)));
  }
  __device__ uint8_t load_byte(int operand, uint64_t offset) const { return *at(operand, offset); }
  __device__ void store_byte(int operand, uint64_t offset, uint8_t value) const {
    *at(operand, offset) = value;
  }
  __device__ uint32_t load_word(int operand, uint64_t offset) const {
    return load_any_word(at(operand, offset));
  }
  __device__ void store_word(int operand, uint64_t offset, uint32_t word) const {
    store_any_word(at(operand, offset), word);
  }
  __device__ void atomic_byte(int operand, uint64_t offset, AtomicOp op, uint8_t value) const {
    if (operands_[operand].is_staged) {
      store_byte(operand, offset, value);
    } else {
      update_byte(at(operand, offset), op, value);
    }
  }

  __device__ uint64_t size_bytes(int operand) const { return operands_[operand].size_bytes; }
  __device__ AccessMode mode(int operand) const { return operands_[operand].mode; }

 private:
  __device__ uint8_t* at(int operand, uint64_t offset) const {
    return operands_[operand].data + offset;
  }

  const LaunchOperand* operands_;
};

}  // namespace DEVICE_CODE
}  // namespace interlock
