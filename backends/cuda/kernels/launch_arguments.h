// What a host passes to the kernels of device_kernels.h: plain values, the same for CUDA and for
// its emulation.
#pragma once

#include <cstdint>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"

namespace interlock {

// Where the bytes of an operand are, in memory of the device: in their place or in a staging copy.
// A device allocation holds whole words: an atomic on a byte replaces the aligned word around it.
struct LaunchOperand {
  uint8_t* data = nullptr;  // At any alignment.
  uint64_t size_bytes = 0;
  AccessMode mode = AccessMode::kRead;
  bool is_staged = false;  // Atomics leave their operand here, for commit_atomics() to apply.
};

// Operands of a kernel that run_slices() keeps in registers; mix has any number of them.
inline constexpr uint32_t kTableOperandCountMax = 8;

struct LaunchArguments {
  const LaunchOperand* operands = nullptr;  // In memory of the device.
  uint32_t operand_count = 0;
  KernelParams params;             // dispatch_params_of()
  uint64_t first_slice = 0;        // Block 0 has it, block 1 the next one.
  uint32_t* mix_digest = nullptr;  // In memory of the device; of digest_mix() and apply_mix().
};

struct CommitArguments {
  uint8_t* memory = nullptr;
  const uint8_t* staged = nullptr;
  uint64_t size_bytes = 0;
  AtomicOp op = AtomicOp::kNone;
};

// Bytes of shared memory that run_slices() needs; the others need none.
inline constexpr uint32_t kSliceSharedBytes = 256;

// The most blocks in the first extent of a grid, for compute capability 3.0 and above (CUDA C++
// Programming Guide, "Compute Capabilities"). More slices take several launches.
inline constexpr uint64_t kGridBlockCountMax = (1ull << 31) - 1;

// Threads of a block, unless a caller has reasons of its own: any number from 1 to 1024 is right.
inline constexpr uint32_t kBlockThreadCount = 128;

// Up to so many bytes of all operands, mix is one block of run_slices(); above, digest_mix() and
// then apply_mix(), with a zero in `mix_digest` before.
inline constexpr uint64_t kMixBlockBytesMax = 64ull << 10;

// Blocks that digest_mix(), apply_mix() and commit_atomics() need at least to keep a device busy
// with `size_bytes`; they are right with any number.
inline constexpr uint32_t grid_block_count(uint64_t size_bytes) {
  constexpr uint64_t kBytesPerBlock = 16ull << 10;
  constexpr uint64_t kCountMax = 1024;
  const uint64_t count = size_bytes / kBytesPerBlock + 1;
  return static_cast<uint32_t>(count < kCountMax ? count : kCountMax);
}

}  // namespace interlock
