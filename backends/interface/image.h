// Memory image: the bytes of a program, before its first dispatch or after its last one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// The bytes of every memory, by MemoryId; and what the host has read, one operand after the other,
// by position in Program::host_dispatches (nothing where it writes). Before a run it is empty.
struct MemoryImage {
  std::vector<std::vector<uint8_t>> memories;
  std::vector<std::vector<uint8_t>> host_reads = {};

  bool operator==(const MemoryImage&) const = default;
};

// Default bound on the bytes that executing a program may allocate for its memories.
inline constexpr uint64_t kExecutionLimitBytes = 256ull << 20;

// The bytes before the first dispatch: tensors with initial values hold them, all others hold a
// fixed pattern that depends on memory and offset (external input, or poison nobody should read).
// Errors: the memories exceed `limit_bytes` in all.
Result<MemoryImage> initial_image(const Program& program, uint64_t limit_bytes);

// Stores `value` in the elements of `bytes`. Requires: they are whole elements of `dtype`, and as
// many as `value` has, if it says which.
void store_value(std::span<uint8_t> bytes, DType dtype, const InitialValue& value);

// Returns one number for what a run left in the outputs, to compare runs and machines by eye:
// FNV-1a, 64 bits, over the bytes of the outputs in the order of the output lines; of every memory
// if there are none; then of what the host has read. Requires: `image` is a run of `program`.
uint64_t output_digest(const Program& program, const MemoryImage& image);

}  // namespace interlock
