// The CPU's side of the kernel dialect (backends/kernels/dialect.h): one lane, raw pointers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "backends/kernels/dialect.h"
#include "backends/kernels/mix.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"
#include "encoder/program/stop.h"

namespace interlock {

static_assert(std::endian::native == std::endian::little, "Memories hold little-endian words.");

// A lane that runs its slice alone.
class SingleLane {
 public:
  static constexpr uint32_t index() { return 0; }
  static constexpr uint32_t count() { return 1; }
  static constexpr void sync() {}
  float& shared(uint32_t i) const { return shared_[i]; }
  uint32_t& shared_word(uint32_t i) const { return shared_words_[i]; }

 private:
  mutable std::array<float, kSharedCount> shared_;
  mutable std::array<uint32_t, kSharedCount> shared_words_;
};

template <class Kernel, class Memory>
void run_slice(Memory& memory, const KernelParams& params, uint64_t slice) {
  Kernel::run(SingleLane{}, memory, params, slice);
}

// Where the bytes of an operand are. A piece that commits late has its outputs in a staging copy,
// which holds only the bytes from `first_byte` of the operand on.
struct CpuOperand {
  uint8_t* data = nullptr;  // Byte `first_byte` of the operand.
  uint64_t first_byte = 0;
  uint64_t size_bytes = 0;  // Of the operand.
  AccessMode mode = AccessMode::kRead;
  bool is_staged = false;
};

class CpuMemory {
 public:
  // Requires: `operands` outlives the memory.
  explicit CpuMemory(const CpuOperand* operands) : operands_(operands) {}

  float load_f32(int operand, uint64_t element) const {
    return f32_of_bits(load_word(operand, element * sizeof(float)));
  }
  void store_f32(int operand, uint64_t element, float value) {
    store_word(operand, element * sizeof value, bits_of_f32(canonical(value)));
  }
  uint8_t load_byte(int operand, uint64_t offset) const { return *at(operand, offset); }
  void store_byte(int operand, uint64_t offset, uint8_t value) { *at(operand, offset) = value; }
  uint32_t load_word(int operand, uint64_t offset) const {
    uint32_t word;
    std::memcpy(&word, at(operand, offset), sizeof word);
    return word;
  }
  void store_word(int operand, uint64_t offset, uint32_t word) {
    std::memcpy(at(operand, offset), &word, sizeof word);
  }

  // A staged atomic keeps its operand, which the commit applies.
  void atomic_byte(int operand, uint64_t offset, AtomicOp op, uint8_t value) {
    uint8_t* byte = at(operand, offset);
    *byte = operands_[operand].is_staged ? value : atomic_result(op, *byte, value);
  }

  // Of an operand of a mix, which is one slice, however large: none once the work is stopped.
  uint64_t size_bytes(int operand) const {
    return is_stopped() ? 0 : operands_[operand].size_bytes;
  }
  AccessMode mode(int operand) const { return operands_[operand].mode; }

 private:
  uint8_t* at(int operand, uint64_t offset) const {
    // Signed: a stray access before the operand is for the guards to find.
    return operands_[operand].data + static_cast<int64_t>(offset - operands_[operand].first_byte);
  }

  const CpuOperand* operands_;
};

}  // namespace interlock
