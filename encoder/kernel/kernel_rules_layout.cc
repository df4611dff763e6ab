// Rules of the kernels that move elements and compute none: concat, split, transpose.
#include <algorithm>

#include "encoder/kernel/kernel_rules.h"
#include "encoder/kernel/kernel_shapes.h"

namespace interlock {
namespace {

// The whole has the columns of both parts, the first ones in front.
Result<KernelParams> bind_parts(const KernelEntry& entry, std::span<const OperandShape> operands,
                                KernelParams params, const Limits& limits, size_t first,
                                size_t second, size_t whole) {
  auto a = expect_matrix(entry, operands, first, "rows, cols", limits);
  if (!a) return a.error();
  auto b = expect_matrix(entry, operands, second, "rows, cols", limits);
  if (!b) return b.error();
  params.rows = extent_of(operands[first].shape[0]);
  params.inner = extent_of(operands[first].shape[1]);
  params.cols = extent_of(operands[second].shape[1]);
  const Extent rows{"rows", params.rows};
  auto same_rows = expect_shape(entry, operands, second, {rows, {"cols", params.cols}});
  if (!same_rows) return same_rows.error();
  auto joined = expect_matrix(entry, operands, whole, "rows, cols", limits);
  if (!joined) return joined.error();
  const uint64_t sum = uint64_t{params.inner} + params.cols;
  auto all = expect_shape(entry, operands, whole, {rows, {"cols of both", sum}});
  if (!all) return all.error();
  return params;
}

// Of a part, or of the whole.
StridedRange part_range(const KernelParams& params, uint64_t slice, int operand, int first,
                        int second) {
  if (operand == first) return row_range(slice, params.inner);
  if (operand == second) return row_range(slice, params.cols);
  return row_range(slice, uint64_t{params.inner} + params.cols);
}

}  // namespace

Result<KernelParams> bind_concat(const KernelEntry& entry, std::span<const OperandShape> operands,
                                 KernelParams params, const Limits& limits) {
  return bind_parts(entry, operands, params, limits, 0, 1, 2);
}

StridedRange concat_range(const KernelParams& params, uint64_t slice, int operand) {
  return part_range(params, slice, operand, 0, 1);
}

Result<KernelParams> bind_split(const KernelEntry& entry, std::span<const OperandShape> operands,
                                KernelParams params, const Limits& limits) {
  return bind_parts(entry, operands, params, limits, 1, 2, 0);
}

StridedRange split_range(const KernelParams& params, uint64_t slice, int operand) {
  return part_range(params, slice, operand, 1, 2);
}

Result<KernelParams> bind_transpose(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits) {
  auto x = expect_matrix(entry, operands, 0, "rows, cols", limits);
  if (!x) return x.error();
  params.rows = extent_of(operands[0].shape[0]);
  params.cols = extent_of(operands[0].shape[1]);
  auto y = expect_shape(entry, operands, 1, {{"cols", params.cols}, {"rows", params.rows}});
  if (!y) return y.error();
  return params;
}

uint64_t transpose_slice_count(const KernelParams& params) {
  return std::max<uint64_t>(1, params.cols);
}

StridedRange transpose_range(const KernelParams& params, uint64_t slice, int operand) {
  if (operand == 1) return row_range(slice, params.rows);
  return {slice * kElementBytes, kElementBytes, params.cols * kElementBytes, params.rows};
}

}  // namespace interlock
