// Kernel rules: which shapes each family of kernels takes, how it splits into slices, and which
// bytes a slice touches. The kernel table (kernel_table.h) points to them.
#pragma once

#include <cstdint>
#include <span>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

// Slices per elementwise, bytewise or column kernel: larger operands get larger blocks.
inline constexpr uint64_t kBlockCountMax = 1024;
inline constexpr uint64_t kElementBlock = 64;  // Elements of elementwise kernels.
inline constexpr uint64_t kByteBlock = 1024;   // Bytes of fill and copy.
inline constexpr uint64_t kColumnBlock = 16;   // Columns of col_sum.
inline constexpr uint64_t kElementBytes = 4;   // f32 and i32

// Of rope: rows and start make positions below kRopePositionMax, so that angles are at most that.
inline constexpr uint32_t kRopeStartMax = 65'536;
inline constexpr uint64_t kRopePositionMax = uint64_t{1} << 17;

// Each function is one of the pointers of a KernelEntry; see there.

// All operands f32 of one shape; a slice is a block of elements.
Result<KernelParams> bind_elementwise(const KernelEntry& entry,
                                      std::span<const OperandShape> operands, KernelParams params,
                                      const Limits& limits);
uint64_t block_slice_count(const KernelParams& params);
StridedRange element_block_range(const KernelParams& params, uint64_t slice, int operand);

// All operands of one size in bytes; a slice is a block of bytes.
Result<KernelParams> bind_bytewise(const KernelEntry& entry, std::span<const OperandShape> operands,
                                   KernelParams params, const Limits& limits);
StridedRange byte_block_range(const KernelParams& params, uint64_t slice, int operand);

// x [rows, cols], y [cols]; a slice is a block of columns.
Result<KernelParams> bind_col_sum(const KernelEntry& entry, std::span<const OperandShape> operands,
                                  KernelParams params, const Limits& limits);
uint64_t col_sum_slice_count(const KernelParams& params);
StridedRange col_sum_range(const KernelParams& params, uint64_t slice, int operand);

// x [rows, cols], y [rows]; a slice is a row.
Result<KernelParams> bind_row_sum(const KernelEntry& entry, std::span<const OperandShape> operands,
                                  KernelParams params, const Limits& limits);
uint64_t row_slice_count(const KernelParams& params);
StridedRange row_sum_range(const KernelParams& params, uint64_t slice, int operand);

// g [cols] or [rows], gx [rows, cols]; a slice is a row. For the VJPs of the sums.
Result<KernelParams> bind_col_sum_vjp(const KernelEntry& entry,
                                      std::span<const OperandShape> operands, KernelParams params,
                                      const Limits& limits);
StridedRange col_sum_vjp_range(const KernelParams& params, uint64_t slice, int operand);
Result<KernelParams> bind_row_sum_vjp(const KernelEntry& entry,
                                      std::span<const OperandShape> operands, KernelParams params,
                                      const Limits& limits);
StridedRange row_sum_vjp_range(const KernelParams& params, uint64_t slice, int operand);

// x, g, y, gx, gw_rows [rows, cols]; w, b [cols]; a slice is a row. Norms and softmax.
Result<KernelParams> bind_rows(const KernelEntry& entry, std::span<const OperandShape> operands,
                               KernelParams params, const Limits& limits);
StridedRange same_row_range(const KernelParams& params, uint64_t slice, int operand);
StridedRange rms_norm_range(const KernelParams& params, uint64_t slice, int operand);
StridedRange layer_norm_range(const KernelParams& params, uint64_t slice, int operand);
StridedRange norm_vjp_range(const KernelParams& params, uint64_t slice, int operand);

// y [rows, cols] = a b; nn: a [rows, inner], b [inner, cols]; nt: b [cols, inner], used transposed;
// tn: a [inner, rows], used transposed. A slice is a row of y.
Result<KernelParams> bind_matmul_nn(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits);
Result<KernelParams> bind_matmul_nt(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits);
Result<KernelParams> bind_matmul_tn(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits);
StridedRange matmul_range(const KernelParams& params, uint64_t slice, int operand);
StridedRange matmul_tn_range(const KernelParams& params, uint64_t slice, int operand);

// In kernel_rules_layout.cc.

// a [rows, inner], b [rows, cols], y [rows, inner + cols]; split: g as y, ga as a, gb as b. A slice
// is a row.
Result<KernelParams> bind_concat(const KernelEntry& entry, std::span<const OperandShape> operands,
                                 KernelParams params, const Limits& limits);
StridedRange concat_range(const KernelParams& params, uint64_t slice, int operand);
Result<KernelParams> bind_split(const KernelEntry& entry, std::span<const OperandShape> operands,
                                KernelParams params, const Limits& limits);
StridedRange split_range(const KernelParams& params, uint64_t slice, int operand);

// x [rows, cols], y [cols, rows]; a slice is a row of y.
Result<KernelParams> bind_transpose(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits);
uint64_t transpose_slice_count(const KernelParams& params);
StridedRange transpose_range(const KernelParams& params, uint64_t slice, int operand);

// In kernel_rules_ids.cc.

// ids [rows], table [inner, cols], y [rows, cols]; a slice is a row of y. For the VJP: ids [inner],
// g [inner, cols], gtable [rows, cols]; a slice is a row of gtable.
Result<KernelParams> bind_embedding(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits);
Result<KernelParams> bind_embedding_vjp(const KernelEntry& entry,
                                        std::span<const OperandShape> operands, KernelParams params,
                                        const Limits& limits);
StridedRange embedding_range(const KernelParams& params, uint64_t slice, int operand);
StridedRange embedding_vjp_range(const KernelParams& params, uint64_t slice, int operand);

// x, y [rows, cols], cols even; a slice is a row.
Result<KernelParams> bind_rope(const KernelEntry& entry, std::span<const OperandShape> operands,
                               KernelParams params, const Limits& limits);

// logits, glogits [rows, cols]; labels, loss, gloss [rows]; a slice is a row.
Result<KernelParams> bind_cross_entropy(const KernelEntry& entry,
                                        std::span<const OperandShape> operands, KernelParams params,
                                        const Limits& limits);
StridedRange cross_entropy_range(const KernelParams& params, uint64_t slice, int operand);

}  // namespace interlock
