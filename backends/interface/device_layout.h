// DeviceLayout: where everything of a run lies in its one device allocation: the memories of the
// program, each between guard bytes that nobody may write, and after them what launches need
// besides: tables of operands, digests, staging copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

// An operand of a dispatch as a launch finds it: in its memory, or in a staging copy.
struct PlacedOperand {
  DeviceRange range;
  AccessMode mode = AccessMode::kRead;
  bool is_staged = false;

  bool operator==(const PlacedOperand&) const = default;
};

// Commands [begin, end) of a list.
struct CommandSpan {
  size_t begin = 0;
  size_t end = 0;
};

// A write to the guards after a memory, or before the first one.
struct StrayWrite {
  std::string_view memory;  // Its name, which the layout holds; empty if there is no memory.
  uint64_t size_bytes = 0;  // Of the memory.
  bool is_before = false;
};

class DeviceLayout {
 public:
  // Memories start at multiples of this, which every device takes as an offset.
  static constexpr uint64_t kAlignmentBytes = 256;
  static constexpr uint64_t kGuardBytes = 256;
  static constexpr uint8_t kGuard = 0xa5;

  explicit DeviceLayout(const Program& program);

  DeviceRange range_of(MemoryId memory, ByteRange range) const {
    return {offsets_bytes_[memory.index] + range.begin, range.size_bytes()};
  }
  DeviceRange range_of(const Access& access) const { return range_of(access.memory, access.range); }
  DeviceRange range_of(MemoryId memory) const {
    return {offsets_bytes_[memory.index], ends_bytes_[memory.index] - offsets_bytes_[memory.index]};
  }

  // The operands of the dispatch in their memories.
  std::vector<PlacedOperand> place_operands(const Program& program, DispatchId id) const;

  // Returns space after the memories, zeros before each execution. It starts as far past a
  // multiple of kAlignmentBytes as `like` does: so a staging copy is aligned like what it stands
  // for. Its last word is whole.
  DeviceRange take(uint64_t size_bytes, uint64_t like = 0);

  // Returns four bytes at a multiple of `alignment`: for a binding that a shader has and a dispatch
  // does not use. Every one has its own, or two dispatches would seem to write the same bytes.
  DeviceRange take_unused(uint64_t alignment);

  uint64_t memories_end_bytes() const { return memories_end_bytes_; }  // The last guard included.
  uint64_t size_bytes() const { return size_bytes_; }

  // Writes one memory, or all and their guards. Requires: `bytes` has memories_end_bytes().
  void store(MemoryId memory, const std::vector<uint8_t>& content, uint8_t* bytes) const;
  void store(const MemoryImage& image, uint8_t* bytes) const;

  // The first stray write, if any.
  std::optional<StrayWrite> find_stray_write(const uint8_t* bytes) const;

  MemoryImage load(const uint8_t* bytes) const;

 private:
  std::vector<std::string> names_;       // By memory.
  std::vector<uint64_t> offsets_bytes_;  // By memory.
  std::vector<uint64_t> ends_bytes_;     // By memory.
  uint64_t memories_end_bytes_ = 0;
  uint64_t size_bytes_ = 0;
};

}  // namespace interlock
