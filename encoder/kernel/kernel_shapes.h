// What the rules of kernels share: shapes that an operand must have, and how it is said when it has
// another.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

using Extent = std::pair<std::string_view, uint64_t>;  // Name and value.

// "[4,8]"
std::string text_of(std::span<const uint64_t> shape);

// Bytes of row `row` of a matrix of 4-byte elements, and of all of `element_count`.
StridedRange row_range(uint64_t row, uint64_t cols);
StridedRange whole_range(uint64_t element_count);

// "Operand 'y' of kernel 'add' has shape [3]; the kernel expects `expected`."
Error shape_error(const KernelEntry& entry, std::span<const OperandShape> operands, size_t operand,
                  std::string_view expected);

// Checks that the operand has exactly these extents.
Result<Success> expect_shape(const KernelEntry& entry, std::span<const OperandShape> operands,
                             size_t operand, std::initializer_list<Extent> extents);

// Checks that the operand is a matrix whose extents are in bounds.
Result<Success> expect_matrix(const KernelEntry& entry, std::span<const OperandShape> operands,
                              size_t operand, std::string_view names, const Limits& limits);

// The extents fit: expect_matrix() bounded them, by limits that a caller may have raised.
uint32_t extent_of(uint64_t extent);

}  // namespace interlock
