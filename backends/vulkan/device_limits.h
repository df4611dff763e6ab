// DeviceLimits: what lowering has to know of a device.
#pragma once

#include <cstdint>

namespace interlock {

struct DeviceLimits {
  uint64_t storage_alignment = 256;  // Of the offset of a storage buffer in its buffer.
  uint64_t uniform_alignment = 256;
  uint64_t storage_bytes_max = 128ull << 20;  // Of one binding.
  uint32_t group_count_max = 65'535;          // In each extent of a grid.
  uint32_t lane_count = 64;                   // Invocations of a workgroup.
  bool has_byte_access = true;                // 8-bit storage: operands at any alignment.
};

}  // namespace interlock
