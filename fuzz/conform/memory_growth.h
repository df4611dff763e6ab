// How much more memory an encoder takes as it goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "encoder/sync/encoder.h"

namespace interlock {

// What allocators and caches of a right encoder stay below.
inline constexpr uint64_t kMemoryGrowthMax = 16 << 20;

struct MemoryGrowth {
  std::optional<uint64_t> bytes;  // None where it cannot be measured.
  std::string between;            // "dispatch 250000 to dispatch 1000000"
};

// Of an encoder of this build: the resident memory of this process from a quarter of one stream to
// its end. Of a process: its own, from a quarter of a thousand programs to the last.
MemoryGrowth memory_growth(const EncoderEntry& encoder, uint64_t dispatch_count);

}  // namespace interlock
