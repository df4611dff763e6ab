// Rules of what a transformer has at its ends: rows found by ids, positions, labels. The basic idea
// of ids and labels is that a body takes them modulo the table, as unsigned numbers: so no bytes
// make it read outside, and what a slice may touch is known without them.
#include "encoder/kernel/kernel_rules.h"
#include "encoder/kernel/kernel_shapes.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

// `id_per_row`: each row of the output has an id, else each row of the input.
Result<KernelParams> bind_rows_by_id(const KernelEntry& entry,
                                     std::span<const OperandShape> operands, KernelParams params,
                                     const Limits& limits, bool id_per_row) {
  auto table = expect_matrix(entry, operands, 1, "inner, cols", limits);
  if (!table) return table.error();
  auto y = expect_matrix(entry, operands, 2, "rows, cols", limits);
  if (!y) return y.error();
  params.inner = extent_of(operands[1].shape[0]);
  params.cols = extent_of(operands[1].shape[1]);
  params.rows = extent_of(operands[2].shape[0]);
  auto same_cols = expect_shape(entry, operands, 2, {{"rows", params.rows}, {"cols", params.cols}});
  if (!same_cols) return same_cols.error();
  auto ids = id_per_row ? expect_shape(entry, operands, 0, {{"rows", params.rows}})
                        : expect_shape(entry, operands, 0, {{"inner", params.inner}});
  if (!ids) return ids.error();
  return params;
}

constexpr int kGlogits = 3;  // logits labels gloss → glogits

}  // namespace

Result<KernelParams> bind_embedding(const KernelEntry& entry,
                                    std::span<const OperandShape> operands, KernelParams params,
                                    const Limits& limits) {
  return bind_rows_by_id(entry, operands, params, limits, true);
}

Result<KernelParams> bind_embedding_vjp(const KernelEntry& entry,
                                        std::span<const OperandShape> operands, KernelParams params,
                                        const Limits& limits) {
  return bind_rows_by_id(entry, operands, params, limits, false);
}

StridedRange embedding_range(const KernelParams& params, uint64_t slice, int operand) {
  if (operand == 0) return row_range(slice, 1);
  return operand == 1 ? whole_range(uint64_t{params.inner} * params.cols)
                      : row_range(slice, params.cols);
}

StridedRange embedding_vjp_range(const KernelParams& params, uint64_t slice, int operand) {
  if (operand == 0) return whole_range(params.inner);
  return embedding_range(params, slice, operand);
}

Result<KernelParams> bind_cross_entropy(const KernelEntry& entry,
                                        std::span<const OperandShape> operands, KernelParams params,
                                        const Limits& limits) {
  auto logits = expect_matrix(entry, operands, 0, "rows, cols", limits);
  if (!logits) return logits.error();
  params.rows = extent_of(operands[0].shape[0]);
  params.cols = extent_of(operands[0].shape[1]);
  for (size_t i = 1; i < operands.size(); ++i) {
    auto shape =
        i == size_t{kGlogits}
            ? expect_shape(entry, operands, i, {{"rows", params.rows}, {"cols", params.cols}})
            : expect_shape(entry, operands, i, {{"rows", params.rows}});
    if (!shape) return shape.error();
  }
  return params;
}

StridedRange cross_entropy_range(const KernelParams& params, uint64_t slice, int operand) {
  return row_range(slice, operand == 0 || operand == kGlogits ? params.cols : 1);
}

Result<KernelParams> bind_rope(const KernelEntry& entry, std::span<const OperandShape> operands,
                               KernelParams params, const Limits& limits) {
  auto bound = bind_rows(entry, operands, params, limits);
  if (!bound) return bound.error();
  if (bound->cols % 2 != 0) return shape_error(entry, operands, 0, "an even number of columns");
  if (uint64_t{bound->rows} + bound->start > kRopePositionMax) {
    return error_of("Kernel '{}' has {} rows from position {}; it has positions below {}.",
                    entry.name, bound->rows, bound->start, kRopePositionMax);
  }
  return *bound;
}

}  // namespace interlock
