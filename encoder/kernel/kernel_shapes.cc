#include "encoder/kernel/kernel_shapes.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "encoder/kernel/kernel_rules.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"

namespace interlock {
std::string text_of(std::span<const uint64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ",", shape[i]);
  return text + "]";
}

StridedRange row_range(uint64_t row, uint64_t cols) {
  return contiguous({row * cols * kElementBytes, (row + 1) * cols * kElementBytes});
}

StridedRange whole_range(uint64_t element_count) {
  return contiguous({0, element_count * kElementBytes});
}

Error shape_error(const KernelEntry& entry, std::span<const OperandShape> operands, size_t operand,
                  std::string_view expected) {
  return error_of("Operand '{}' of kernel '{}' has shape {}; the kernel expects {}.",
                  entry.operands[operand].name, entry.name, text_of(operands[operand].shape),
                  expected);
}

Result<Success> expect_shape(const KernelEntry& entry, std::span<const OperandShape> operands,
                             size_t operand, std::initializer_list<Extent> extents) {
  const std::span<const uint64_t> shape = operands[operand].shape;
  const auto is_extent = [](uint64_t found, const Extent& wanted) {
    return found == wanted.second;
  };
  if (std::equal(shape.begin(), shape.end(), extents.begin(), extents.end(), is_extent)) {
    return Success{};
  }
  std::vector<uint64_t> expected;
  std::string names;
  for (const Extent& extent : extents) {
    expected.push_back(extent.second);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", extent.first);
  }
  return shape_error(entry, operands, operand, fmt::format("[{}] = {}", names, text_of(expected)));
}

Result<Success> expect_matrix(const KernelEntry& entry, std::span<const OperandShape> operands,
                              size_t operand, std::string_view names, const Limits& limits) {
  const std::span<const uint64_t> shape = operands[operand].shape;
  if (shape.size() != 2) {
    return shape_error(entry, operands, operand, fmt::format("two extents, [{}]", names));
  }
  for (const uint64_t extent : shape) {
    if (extent < 1 || extent > limits.kernel_extent) {
      return shape_error(entry, operands, operand,
                         fmt::format("[{}], each from 1 to {}", names, limits.kernel_extent));
    }
  }
  return Success{};
}

uint32_t extent_of(uint64_t extent) {
  INTERLOCK_CHECK(extent <= UINT32_MAX);
  return static_cast<uint32_t>(extent);
}

}  // namespace interlock
