// The CPU's side of the kernel dialect (backends/kernels/dialect.h): one lane, raw pointers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

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
  // Requires: `operands` outlive the memory.
  explicit CpuMemory(std::span<const CpuOperand> operands) : operands_(operands) {}

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
    *byte = operand_at(operand).is_staged ? value : atomic_result(op, *byte, value);
  }

  // Of an operand of a mix, which is one slice, however large: none once the work is stopped.
  uint64_t size_bytes(int operand) const {
    return is_stopped() ? 0 : operand_at(operand).size_bytes;
  }
  AccessMode mode(int operand) const { return operand_at(operand).mode; }

  std::span<const CpuOperand> operands() const { return operands_; }

  // Of a byte of the operand.
  uint8_t* address(int operand, uint64_t offset) const { return at(operand, offset); }

 private:
  uint8_t* at(int operand, uint64_t offset) const {
    // Signed: a stray access before the operand is for the guards to find.
    const CpuOperand& place = operand_at(operand);
    return place.data + static_cast<int64_t>(offset - place.first_byte);
  }

  const CpuOperand& operand_at(int operand) const {
    return operands_[static_cast<size_t>(operand)];
  }

  std::span<const CpuOperand> operands_;
};

// The operands of a kernel that is not variadic, by value. A store may change any byte, for all
// that a compiler knows, and so where operands lie; in an object that nothing points to it cannot,
// and a loop over elements keeps the places in registers.
class LocalCpuMemory {
 public:
  static constexpr size_t kOperandsMax = 5;

  // Requires: at most kOperandsMax operands.
  explicit LocalCpuMemory(const CpuMemory& memory)
      : places_{place(memory, 0), place(memory, 1), place(memory, 2), place(memory, 3),
                place(memory, 4)} {}

  float load_f32(int operand, uint64_t element) const {
    return f32_of_bits(load_word(operand, element * sizeof(float)));
  }
  void store_f32(int operand, uint64_t element, float value) {
    const uint32_t word = bits_of_f32(canonical(value));
    std::memcpy(at(operand, element * sizeof value), &word, sizeof word);
  }
  uint8_t load_byte(int operand, uint64_t offset) const { return *at(operand, offset); }
  void store_byte(int operand, uint64_t offset, uint8_t value) { *at(operand, offset) = value; }
  uint32_t load_word(int operand, uint64_t offset) const {
    uint32_t word;
    std::memcpy(&word, at(operand, offset), sizeof word);
    return word;
  }

 private:
  struct Place {
    uint8_t* data = nullptr;
    uint64_t first_byte = 0;
  };

  static Place place(const CpuMemory& memory, size_t position) {
    if (position >= memory.operands().size()) return {};
    return {memory.operands()[position].data, memory.operands()[position].first_byte};
  }

  uint8_t* at(int operand, uint64_t offset) const {
    const Place& place = places_[static_cast<size_t>(operand)];
    return place.data + static_cast<int64_t>(offset - place.first_byte);
  }

  std::array<Place, kOperandsMax> places_;
};

}  // namespace interlock
