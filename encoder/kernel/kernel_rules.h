// Kernel rules: which shapes each family of kernels takes. The kernel table (kernel_table.h) points
// to them.
#pragma once

#include <cstdint>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

// Slices per elementwise, bytewise or column kernel: larger operands get larger blocks.
inline constexpr uint64_t kBlockCountMax = 1024;
inline constexpr uint64_t kElementBlock = 64;  // Elements of elementwise kernels.
inline constexpr uint64_t kByteBlock = 1024;   // Bytes of fill and copy.
inline constexpr uint64_t kColumnBlock = 16;   // Columns of col_sum.

// Of rope: rows and start make positions below kRopePositionMax, so that angles are at most that.
inline constexpr uint32_t kRopeStartMax = 65'536;
inline constexpr uint64_t kRopePositionMax = uint64_t{1} << 17;

BindRule bind_elementwise;  // All operands f32 of one shape.
BindRule bind_bytewise;     // All operands of one size in bytes.
BindRule bind_parts;        // Of concat and split: the whole has the columns of both parts.
BindRule bind_rope;  // As bind_matrices, with an even number of columns and positions in bounds.

}  // namespace interlock
