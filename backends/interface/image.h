// Memory image: the bytes of a program, before its first dispatch or after its last one.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// The bytes of every memory, by MemoryId.
struct MemoryImage {
  std::vector<std::vector<uint8_t>> memories;

  bool operator==(const MemoryImage&) const = default;
};

// Default bound on the bytes that executing a program may allocate for its memories.
inline constexpr uint64_t kExecutionLimitBytes = 256ull << 20;

// The bytes before the first dispatch: tensors with initial values hold them, all others hold a
// fixed pattern that depends on memory and offset (external input, or poison nobody should read).
// Errors: the memories exceed `limit_bytes` in all.
Result<MemoryImage> initial_image(const Program& program, uint64_t limit_bytes);

// Returns one number for what a run left in the outputs, to compare runs and machines by eye:
// FNV-1a, 64 bits, over the bytes of the outputs in the order of the output lines; of every memory
// if there are none. Requires: `image` is a run of `program`.
uint64_t output_digest(const Program& program, const MemoryImage& image);

}  // namespace interlock
