// RecordingMemory: the kernel dialect's memory that compares every load and store with what the
// slice declares. A wrong body cannot leave the program's memories: loads from outside give zeros,
// stores there vanish, and both are recorded.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/interface/image.h"
#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"
#include "encoder/program/range.h"

namespace interlock {

// Bytes that a slice touched through one operand, in coordinates of the operand: negative before
// its start.
struct TouchedRange {
  int64_t begin = 0;
  int64_t end = 0;

  auto operator<=>(const TouchedRange&) const = default;
};

// What one slice touched through one operand; ranges ascend and do not touch each other.
struct OperandTouches {
  std::vector<TouchedRange> loaded;
  std::vector<TouchedRange> stored;
  std::vector<TouchedRange> undeclared_loads;
  std::vector<TouchedRange> undeclared_stores;
};

class RecordingMemory {
 public:
  // Records into its own state; all touches too iff `records_all`, else only undeclared ones.
  RecordingMemory(const Program& program, MemoryImage& image, bool records_all)
      : program_(program), image_(image), records_all_(records_all) {}

  // Forgets what was recorded. `declared`: the bytes of the slice, by access, in their memories.
  void begin_slice(DispatchId dispatch, std::span<const StridedRange> declared);

  // What was touched since begin_slice(), by access.
  std::vector<OperandTouches> take_touches();

  // False until the slice touches what it does not declare.
  bool has_undeclared() const { return has_undeclared_; }

  // The dialect; see backends/kernels/dialect.h.
  float load_f32(int operand, uint64_t element) { return load<float>(operand, 4 * element); }
  void store_f32(int operand, uint64_t element, float value) {
    value = canonical(value);
    store(operand, 4 * element, &value, sizeof value);
  }
  uint8_t load_byte(int operand, uint64_t offset) { return load<uint8_t>(operand, offset); }
  void store_byte(int operand, uint64_t offset, uint8_t value) {
    store(operand, offset, &value, 1);
  }
  uint32_t load_word(int operand, uint64_t offset) { return load<uint32_t>(operand, offset); }
  void store_word(int operand, uint64_t offset, uint32_t word) { store(operand, offset, &word, 4); }
  void atomic_byte(int operand, uint64_t offset, AtomicOp op, uint8_t value);
  uint64_t size_bytes(int operand) const { return access(operand).range.size_bytes(); }
  AccessMode mode(int operand) const { return access(operand).mode; }

 private:
  enum class Touch : uint8_t { kLoad, kStore, kAtomic };

  const Access& access(int operand) const { return accesses_[static_cast<size_t>(operand)]; }
  bool streams(int operand) const;
  bool has_stored(int operand, int64_t begin, int64_t end) const;
  bool declares(int operand, uint64_t offset, uint64_t size_bytes, Touch touch) const;
  void record(int operand, uint64_t offset, uint64_t size_bytes, Touch touch);
  uint8_t* byte_at(int operand, uint64_t offset);
  void load(int operand, uint64_t offset, void* value, uint64_t size_bytes);
  void store(int operand, uint64_t offset, const void* value, uint64_t size_bytes);

  template <typename T>
  T load(int operand, uint64_t offset) {
    T value;
    load(operand, offset, &value, sizeof value);
    return value;
  }

  const Program& program_;
  MemoryImage& image_;
  bool records_all_;
  bool has_undeclared_ = false;
  bool is_partial_ = false;
  const KernelEntry* kernel_ = nullptr;  // Of the slice.
  std::span<const Access> accesses_;
  std::span<const StridedRange> declared_;
  std::vector<OperandTouches> touches_;
  // By access: what the slice itself has stored, of operands that stream. Bodies store upwards, so
  // these are few.
  std::vector<std::vector<TouchedRange>> own_stores_;
};

}  // namespace interlock
