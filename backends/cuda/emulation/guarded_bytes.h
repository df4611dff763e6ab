// GuardedBytes: an allocation of the emulated device, between bytes that nobody may write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace interlock {

class GuardedBytes {
 public:
  static constexpr size_t kGuardBytes = 256;  // Also keeps the alignment of the allocation.
  static constexpr uint8_t kGuard = 0xa5;

  explicit GuardedBytes(std::span<const uint8_t> bytes)
      : size_bytes_(bytes.size()), storage_(bytes.size() + 2 * kGuardBytes, kGuard) {
    std::copy(bytes.begin(), bytes.end(), data());
  }

  uint8_t* data() { return storage_.data() + kGuardBytes; }
  std::span<const uint8_t> bytes() const {
    return std::span(storage_).subspan(kGuardBytes, size_bytes_);
  }

  // False after a write to a guard byte that changed it.
  bool is_guarded() const {
    const auto is_kept = [](uint8_t byte) { return byte == kGuard; };
    const std::span<const uint8_t> all = storage_;
    const auto before = all.first(kGuardBytes);
    const auto behind = all.last(kGuardBytes);
    return std::all_of(before.begin(), before.end(), is_kept) &&
           std::all_of(behind.begin(), behind.end(), is_kept);
  }

 private:
  size_t size_bytes_;
  std::vector<uint8_t> storage_;
};

}  // namespace interlock
