// Guarded buffer: bytes of the host between guard bytes that nobody may write, so that a stray
// write of a kernel shows instead of damaging the heap.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace interlock {

class GuardedBuffer {
 public:
  static constexpr uint64_t kGuardBytes = 256;  // On either side; keeps the heap's alignment.
  static constexpr uint8_t kGuard = 0xa5;

  explicit GuardedBuffer(std::vector<uint8_t> bytes);

  uint8_t* data() { return bytes_.data() + kGuardBytes; }
  const uint8_t* data() const { return bytes_.data() + kGuardBytes; }
  uint64_t size_bytes() const { return bytes_.size() - 2 * kGuardBytes; }

  // The lowest guard byte that was written, counted from data(): negative before it.
  std::optional<int64_t> stray_offset() const;

  // Returns the bytes without their guards.
  std::vector<uint8_t> release() &&;

 private:
  std::vector<uint8_t> bytes_;  // With guards.
};

}  // namespace interlock
