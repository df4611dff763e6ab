// The obvious tracker: what the epoch did to each byte. Slow, and right by inspection.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

class ByteTracker {
 public:
  // Requires: accesses stay within so many memories of so many bytes.
  ByteTracker(uint64_t memories, uint64_t memory_bytes)
      : memory_bytes_(memory_bytes), bytes_(memories * memory_bytes) {}

  bool add(std::span<const Access> accesses, AtomicOp atomic_op);
  void begin_epoch() { ++epoch_; }

 private:
  struct Byte {
    uint64_t epoch = 0;  // The rest is about this epoch only.
    bool is_read = false;
    bool is_written = false;
    AtomicOp atomic_op = AtomicOp::kNone;
  };

  std::span<Byte> bytes_of(const Access& access);
  bool has_conflict(const Access& access, AtomicOp atomic_op);

  uint64_t memory_bytes_;
  std::vector<Byte> bytes_;
  uint64_t epoch_ = 1;
};

}  // namespace interlock
