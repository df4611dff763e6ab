// Arena: one buffer holds all memories of a program, each between guard bytes that nobody may
// write, and after them what a run needs besides: digests and staging copies.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/interface/image.h"
#include "backends/vulkan/command_list.h"
#include "encoder/program/program.h"

namespace interlock {

// What lowering has to know of a device.
struct DeviceLimits {
  uint64_t storage_alignment = 256;  // Of the offset of a storage buffer in its buffer.
  uint64_t uniform_alignment = 256;
  uint64_t storage_bytes_max = 128ull << 20;  // Of one binding.
  uint32_t group_count_max = 65'535;          // In each extent of a grid.
  uint32_t lane_count = 64;                   // Invocations of a workgroup.
  bool has_byte_access = true;                // 8-bit storage: operands at any alignment.
};

class ArenaLayout {
 public:
  // Memories start at multiples of this, which every device takes as an offset.
  static constexpr uint64_t kAlignmentBytes = 256;
  static constexpr uint64_t kGuardBytes = 256;
  static constexpr uint8_t kGuard = 0xa5;

  explicit ArenaLayout(const Program& program);

  ArenaRange range_of(const Access& access) const {
    return {offsets_bytes_[access.memory.index] + access.range.begin, access.range.size_bytes()};
  }

  // Returns space after the memories, zeros at first. It starts as far past a multiple of
  // kAlignmentBytes as `like` does: so a staging copy is aligned like what it stands for.
  ArenaRange take(uint64_t size_bytes, uint64_t like = 0);

  // Returns four bytes at a multiple of `alignment`: for a binding that a shader has and a dispatch
  // does not use. Every one has its own, or two dispatches would seem to write the same bytes.
  ArenaRange take_unused(uint64_t alignment);

  uint64_t memory_count() const { return offsets_bytes_.size(); }
  uint64_t memory_offset_bytes(size_t memory) const { return offsets_bytes_[memory]; }
  uint64_t memories_end_bytes() const { return memories_end_bytes_; }  // The last guard included.
  uint64_t size_bytes() const { return size_bytes_; }

  // Writes the image with its guards, and zeros after it. Requires: `arena` has size_bytes().
  void store(const MemoryImage& image, uint8_t* arena) const;

  // Reads the memories back into `image`. Errors: a guard byte changed.
  Result<Success> load(const Program& program, const uint8_t* arena, MemoryImage& image) const;

 private:
  std::vector<uint64_t> offsets_bytes_;  // By memory.
  uint64_t memories_end_bytes_ = 0;
  uint64_t size_bytes_ = 0;
};

}  // namespace interlock
