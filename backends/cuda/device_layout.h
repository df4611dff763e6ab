// DeviceLayout: where everything of a run lies in its one device allocation: the memories of the
// program, each between guard bytes that nobody may write, and after them what launches need
// besides: tables of operands, digests, staging copies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/interface/image.h"
#include "encoder/program/program.h"

namespace interlock {

// Bytes of the allocation.
struct DeviceRange {
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;

  bool operator==(const DeviceRange&) const = default;
};

class DeviceLayout {
 public:
  static constexpr uint64_t kAlignmentBytes = 256;  // Of the start of a memory.
  static constexpr uint64_t kGuardBytes = 256;
  static constexpr uint8_t kGuard = 0xa5;

  explicit DeviceLayout(const Program& program);

  DeviceRange range_of(MemoryId memory, ByteRange range) const {
    return {offsets_bytes_[memory.index] + range.begin, range.size_bytes()};
  }

  // Returns space after the memories, zeros before each execution. It starts as far past a
  // multiple of kAlignmentBytes as `like` does: so a staging copy is aligned like what it stands
  // for.
  DeviceRange take(uint64_t size_bytes, uint64_t like = 0);

  DeviceRange range_of(MemoryId memory) const {
    return {offsets_bytes_[memory.index], ends_bytes_[memory.index] - offsets_bytes_[memory.index]};
  }
  uint64_t memories_end_bytes() const { return memories_end_bytes_; }  // The last guard included.
  uint64_t size_bytes() const { return size_bytes_; }

  // Writes one memory, or all and their guards. Requires: `bytes` has memories_end_bytes().
  void store(MemoryId memory, const std::vector<uint8_t>& content, uint8_t* bytes) const;
  void store(const MemoryImage& image, uint8_t* bytes) const;

  // Returns the memories. Errors: a guard byte changed.
  Result<MemoryImage> load(const uint8_t* bytes) const;

 private:
  std::vector<std::string> names_;       // By memory.
  std::vector<uint64_t> offsets_bytes_;  // By memory.
  std::vector<uint64_t> ends_bytes_;     // By memory.
  uint64_t memories_end_bytes_ = 0;
  uint64_t size_bytes_ = 0;
};

}  // namespace interlock
