// The basic idea is that slices partition the outputs of a dispatch: by blocks of elements, bytes
// or columns, or by rows. So no two slices of one dispatch ever write the same byte, and a table
// kernel never reads what it writes except at the element that it overwrites.
#include "encoder/kernel/kernel_rules.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "encoder/kernel/kernel_shapes.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

uint64_t divide_up(uint64_t n, uint64_t divisor) { return n / divisor + (n % divisor != 0); }

// A multiple of `smallest`, such that `count` elements make at most kBlockCountMax blocks.
uint64_t block_of(uint64_t count, uint64_t smallest) {
  return smallest * std::max<uint64_t>(1, divide_up(count, smallest * kBlockCountMax));
}

ByteRange block_elements(const KernelParams& params, uint64_t count, uint64_t slice) {
  const uint64_t begin = slice * params.block;
  return {begin, std::max(begin, std::min(count, begin + params.block))};
}

Result<KernelParams> bind_matmul(const KernelEntry& entry, std::span<const OperandShape> operands,
                                 KernelParams params, const Limits& limits, bool transposes_a,
                                 bool transposes_b) {
  auto a = expect_matrix(entry, operands, 0, transposes_a ? "inner, rows" : "rows, inner", limits);
  if (!a) return a.error();
  auto b = expect_matrix(entry, operands, 1, transposes_b ? "cols, inner" : "inner, cols", limits);
  if (!b) return b.error();
  params.rows = extent_of(operands[0].shape[transposes_a ? 1 : 0]);
  params.inner = extent_of(operands[0].shape[transposes_a ? 0 : 1]);
  params.cols = extent_of(operands[1].shape[transposes_b ? 0 : 1]);
  const Extent cols{"cols", params.cols};
  const Extent inner{"inner", params.inner};
  auto same_inner = transposes_b ? expect_shape(entry, operands, 1, {cols, inner})
                                 : expect_shape(entry, operands, 1, {inner, cols});
  if (!same_inner) return same_inner.error();
  auto y = expect_shape(entry, operands, 2, {{"rows", params.rows}, cols});
  if (!y) return y.error();
  return params;
}

}  // namespace

Result<KernelParams> bind_elementwise(const KernelEntry& entry,
                                      std::span<const OperandShape> operands, KernelParams params,
                                      const Limits& /*limits*/) {
  for (size_t i = 1; i < operands.size(); ++i) {
    if (!std::equal(operands[i].shape.begin(), operands[i].shape.end(), operands[0].shape.begin(),
                    operands[0].shape.end())) {
      return shape_error(
          entry, operands, i,
          fmt::format("the shape of '{}', {}", entry.operands[0].name, text_of(operands[0].shape)));
    }
  }
  params.element_count = 1;
  for (const uint64_t extent : operands[0].shape) params.element_count *= extent;
  params.block = block_of(params.element_count, kElementBlock);
  return params;
}

uint64_t block_slice_count(const KernelParams& params) {
  return std::max<uint64_t>(1, divide_up(params.element_count, params.block));
}

StridedRange element_block_range(const KernelParams& params, uint64_t slice, int /*operand*/) {
  const ByteRange elements = block_elements(params, params.element_count, slice);
  return contiguous({elements.begin * kElementBytes, elements.end * kElementBytes});
}

Result<KernelParams> bind_bytewise(const KernelEntry& entry, std::span<const OperandShape> operands,
                                   KernelParams params, const Limits& /*limits*/) {
  const uint64_t size_bytes = operands[0].shape[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    if (operands[i].shape[0] != size_bytes) {
      return error_of(
          "Operand '{}' of kernel '{}' has {} bytes; the kernel expects as many as '{}' has, {}.",
          entry.operands[i].name, entry.name, operands[i].shape[0], entry.operands[0].name,
          size_bytes);
    }
  }
  params.element_count = size_bytes;
  params.block = block_of(size_bytes, kByteBlock);
  return params;
}

StridedRange byte_block_range(const KernelParams& params, uint64_t slice, int /*operand*/) {
  return contiguous(block_elements(params, params.element_count, slice));
}

Result<KernelParams> bind_col_sum(const KernelEntry& entry, std::span<const OperandShape> operands,
                                  KernelParams params, const Limits& limits) {
  auto x = expect_matrix(entry, operands, 0, "rows, cols", limits);
  if (!x) return x.error();
  params.rows = extent_of(operands[0].shape[0]);
  params.cols = extent_of(operands[0].shape[1]);
  auto y = expect_shape(entry, operands, 1, {{"cols", params.cols}});
  if (!y) return y.error();
  params.block = block_of(params.cols, kColumnBlock);
  return params;
}

uint64_t col_sum_slice_count(const KernelParams& params) {
  return std::max<uint64_t>(1, divide_up(params.cols, params.block));
}

StridedRange col_sum_range(const KernelParams& params, uint64_t slice, int operand) {
  const ByteRange cols = block_elements(params, params.cols, slice);
  const uint64_t run_bytes = cols.size_bytes() * kElementBytes;
  const bool is_output = operand == 1;
  if (is_output) return {cols.begin * kElementBytes, run_bytes, run_bytes, 1};
  return {cols.begin * kElementBytes, run_bytes, params.cols * kElementBytes, params.rows};
}

Result<KernelParams> bind_row_sum(const KernelEntry& entry, std::span<const OperandShape> operands,
                                  KernelParams params, const Limits& limits) {
  auto x = expect_matrix(entry, operands, 0, "rows, cols", limits);
  if (!x) return x.error();
  params.rows = extent_of(operands[0].shape[0]);
  params.cols = extent_of(operands[0].shape[1]);
  auto y = expect_shape(entry, operands, 1, {{"rows", params.rows}});
  if (!y) return y.error();
  return params;
}

uint64_t row_slice_count(const KernelParams& params) { return std::max<uint64_t>(1, params.rows); }

StridedRange row_sum_range(const KernelParams& params, uint64_t slice, int operand) {
  return row_range(slice, operand == 0 ? params.cols : 1);
}

Result<KernelParams> bind_col_sum_vjp(const KernelEntry& entry,
                                      std::span<const OperandShape> operands, KernelParams params,
                                      const Limits& limits) {
  auto gx = expect_matrix(entry, operands, 1, "rows, cols", limits);
  if (!gx) return gx.error();
  params.rows = extent_of(operands[1].shape[0]);
  params.cols = extent_of(operands[1].shape[1]);
  auto g = expect_shape(entry, operands, 0, {{"cols", params.cols}});
  if (!g) return g.error();
  return params;
}

StridedRange col_sum_vjp_range(const KernelParams& params, uint64_t slice, int operand) {
  return operand == 0 ? whole_range(params.cols) : row_range(slice, params.cols);
}

Result<KernelParams> bind_row_sum_vjp(const KernelEntry& entry,
                                      std::span<const OperandShape> operands, KernelParams params,
                                      const Limits& limits) {
  auto gx = expect_matrix(entry, operands, 1, "rows, cols", limits);
  if (!gx) return gx.error();
  params.rows = extent_of(operands[1].shape[0]);
  params.cols = extent_of(operands[1].shape[1]);
  auto g = expect_shape(entry, operands, 0, {{"rows", params.rows}});
  if (!g) return g.error();
  return params;
}

StridedRange row_sum_vjp_range(const KernelParams& params, uint64_t slice, int operand) {
  return row_range(slice, operand == 0 ? 1 : params.cols);
}

Result<KernelParams> bind_rows(const KernelEntry& entry, std::span<const OperandShape> operands,
                               KernelParams params, const Limits& limits) {
  auto x = expect_matrix(entry, operands, 0, "rows, cols", limits);
  if (!x) return x.error();
  params.rows = extent_of(operands[0].shape[0]);
  params.cols = extent_of(operands[0].shape[1]);
  for (size_t i = 1; i < operands.size(); ++i) {
    const std::string_view name = entry.operands[i].name;
    const bool is_per_column = name == "w" || name == "b";
    auto shape = is_per_column ? expect_shape(entry, operands, i, {{"cols", params.cols}})
                               : expect_shape(entry, operands, i,
                                              {{"rows", params.rows}, {"cols", params.cols}});
    if (!shape) return shape.error();
  }
  return params;
}

StridedRange same_row_range(const KernelParams& params, uint64_t slice, int /*operand*/) {
  return row_range(slice, params.cols);
}

StridedRange rms_norm_range(const KernelParams& params, uint64_t slice, int operand) {
  return operand == 1 ? whole_range(params.cols) : row_range(slice, params.cols);  // x w → y
}

StridedRange layer_norm_range(const KernelParams& params, uint64_t slice, int operand) {
  const bool is_per_column = operand == 1 || operand == 2;  // x w b → y
  return is_per_column ? whole_range(params.cols) : row_range(slice, params.cols);
}

StridedRange norm_vjp_range(const KernelParams& params, uint64_t slice, int operand) {
  return rms_norm_range(params, slice, operand);  // x w g → gx gw_rows
}

Result<KernelParams> bind_matmul_nn(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits) {
  return bind_matmul(entry, operands, params, limits, false, false);
}

Result<KernelParams> bind_matmul_nt(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits) {
  return bind_matmul(entry, operands, params, limits, false, true);
}

Result<KernelParams> bind_matmul_tn(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits) {
  return bind_matmul(entry, operands, params, limits, true, false);
}

StridedRange matmul_range(const KernelParams& params, uint64_t slice, int operand) {
  if (operand == 0) return row_range(slice, params.inner);
  if (operand == 1) return whole_range(uint64_t{params.inner} * params.cols);
  return row_range(slice, params.cols);
}

StridedRange matmul_tn_range(const KernelParams& params, uint64_t slice, int operand) {
  if (operand != 0) return matmul_range(params, slice, operand);
  return {slice * kElementBytes, kElementBytes, params.rows * kElementBytes, params.inner};
}

}  // namespace interlock
