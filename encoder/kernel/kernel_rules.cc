// The basic idea is that the table says which extents operands have, by name: a matrix that has a
// name first says what it is, and all others are compared with that.
#include "encoder/kernel/kernel_rules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

std::string_view name_of(Extent extent) {
  constexpr std::string_view kNames[] = {"one",  "elements", "rows",
                                         "cols", "inner",    "cols of both"};
  return kNames[static_cast<size_t>(extent)];
}

// "rows, cols"
std::string names_of(OperandExtents extents) {
  return extents.is_matrix()
             ? fmt::format("{}, {}", name_of(extents.first), name_of(extents.second))
             : std::string(name_of(extents.first));
}

// "[4,8]"
std::string shape_text(OperandShape shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

Error shape_error(const KernelEntry& entry, std::span<const OperandShape> operands, size_t operand,
                  std::string_view expected) {
  return error_of("Operand '{}' of kernel '{}' has shape {}; the kernel expects {}.",
                  entry.operands[operand].name, entry.name, shape_text(operands[operand]),
                  expected);
}

// By Extent. Every operand of every table dispatch is compared with some of these.
using ExtentValues = std::array<uint64_t, static_cast<size_t>(Extent::kInnerAndCols) + 1>;

ExtentValues extent_values_of(const KernelParams& params) {
  ExtentValues values;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = extent_of(params, static_cast<Extent>(i));
  }
  return values;
}

// Whether an operand has exactly the extents that it should have.
bool has_extents(OperandShape shape, OperandExtents extents, const ExtentValues& values) {
  if (!extents.is_matrix()) {
    return shape.size() == 1 && shape[0] == values[static_cast<size_t>(extents.first)];
  }
  return shape.size() == 2 && shape[0] == values[static_cast<size_t>(extents.first)] &&
         shape[1] == values[static_cast<size_t>(extents.second)];
}

// None if it has them.
std::optional<Error> shape_defect(const KernelEntry& entry, std::span<const OperandShape> operands,
                                  size_t operand, const KernelParams& params) {
  const OperandExtents extents = entry.shapes[operand];
  if (has_extents(operands[operand], extents, extent_values_of(params))) return std::nullopt;
  const uint64_t values[] = {extent_of(params, extents.first), extent_of(params, extents.second)};
  const OperandShape expected = std::span(values).first(extents.is_matrix() ? 2 : 1);
  return shape_error(entry, operands, operand,
                     fmt::format("[{}] = {}", names_of(extents), shape_text(expected)));
}

// None if the operand is a matrix whose extents are in bounds; errors call them `names`.
std::optional<Error> matrix_defect(const KernelEntry& entry, std::span<const OperandShape> operands,
                                   size_t operand, OperandExtents names, const Limits& limits) {
  const OperandShape shape = operands[operand];
  if (shape.size() != 2) {
    return shape_error(entry, operands, operand, fmt::format("two extents, [{}]", names_of(names)));
  }
  for (const uint64_t extent : shape) {
    if (extent < 1 || extent > limits.kernel_extent) {
      return shape_error(
          entry, operands, operand,
          fmt::format("[{}], each from 1 to {}", names_of(names), limits.kernel_extent));
    }
  }
  return std::nullopt;
}

// An extent that is known stays as it is. The value fits: matrix_defect() bounded it, by limits
// that a caller may have raised.
void set_extent(KernelParams& params, Extent extent, uint64_t value) {
  INTERLOCK_CHECK(value <= UINT32_MAX);
  uint32_t& member = extent == Extent::kRows   ? params.rows
                     : extent == Extent::kCols ? params.cols
                                               : params.inner;
  if (member == 0) member = static_cast<uint32_t>(value);
}

}  // namespace

Result<KernelParams> bind_elementwise(const KernelEntry& entry,
                                      std::span<const OperandShape> operands, KernelParams params,
                                      const Limits& /*limits*/) {
  for (size_t i = 1; i < operands.size(); ++i) {
    if (std::ranges::equal(operands[i], operands[0])) continue;
    return shape_error(
        entry, operands, i,
        fmt::format("the shape of '{}', {}", entry.operands[0].name, shape_text(operands[0])));
  }
  params.element_count = 1;
  for (const uint64_t extent : operands[0]) params.element_count *= extent;
  return params;
}

Result<KernelParams> bind_bytewise(const KernelEntry& entry, std::span<const OperandShape> operands,
                                   KernelParams params, const Limits& /*limits*/) {
  params.element_count = operands[0][0];
  for (size_t i = 1; i < operands.size(); ++i) {
    if (operands[i][0] == params.element_count) continue;
    return error_of(
        "Operand '{}' of kernel '{}' has {} bytes; the kernel expects as many as '{}' has, {}.",
        entry.operands[i].name, entry.name, operands[i][0], entry.operands[0].name,
        params.element_count);
  }
  return params;
}

Result<KernelParams> bind_matrices(const KernelEntry& entry, std::span<const OperandShape> operands,
                                   KernelParams params, const Limits& limits) {
  std::bitset<kTableOperandsMax> says_extents;  // By operand.
  for (size_t i = 0; i < operands.size(); ++i) {
    const OperandExtents extents = entry.shapes[i];
    says_extents[i] = extents.is_matrix() && (extent_of(params, extents.first) == 0 ||
                                              extent_of(params, extents.second) == 0);
    if (!says_extents[i]) continue;
    if (const auto defect = matrix_defect(entry, operands, i, extents, limits)) return *defect;
    set_extent(params, extents.first, operands[i][0]);
    set_extent(params, extents.second, operands[i][1]);
  }
  const ExtentValues values = extent_values_of(params);
  bool fits = true;
  for (size_t i = 0; i < operands.size(); ++i) {
    fits = fits && has_extents(operands[i], entry.shapes[i], values);
  }
  if (fits) return params;
  for (const bool is_first : {true, false}) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (says_extents[i] != is_first) continue;
      if (const auto defect = shape_defect(entry, operands, i, params)) return *defect;
    }
  }
  return params;
}

Result<KernelParams> bind_parts(const KernelEntry& entry, std::span<const OperandShape> operands,
                                KernelParams params, const Limits& limits) {
  constexpr OperandExtents kPart = {Extent::kRows, Extent::kCols};
  const bool is_whole_last = entry.shapes[0].second == Extent::kInner;
  const size_t first = is_whole_last ? 0 : 1;
  const size_t second = first + 1;
  const size_t whole = is_whole_last ? 2 : 0;
  for (const size_t part : {first, second}) {
    if (const auto defect = matrix_defect(entry, operands, part, kPart, limits)) return *defect;
  }
  set_extent(params, Extent::kRows, operands[first][0]);
  set_extent(params, Extent::kInner, operands[first][1]);
  set_extent(params, Extent::kCols, operands[second][1]);
  if (const auto defect = shape_defect(entry, operands, second, params)) return *defect;
  if (const auto defect = matrix_defect(entry, operands, whole, kPart, limits)) return *defect;
  if (const auto defect = shape_defect(entry, operands, whole, params)) return *defect;
  return params;
}

Result<KernelParams> bind_rope(const KernelEntry& entry, std::span<const OperandShape> operands,
                               KernelParams params, const Limits& limits) {
  auto bound = bind_matrices(entry, operands, params, limits);
  if (!bound) return bound;
  if (bound->cols % 2 != 0) return shape_error(entry, operands, 0, "an even number of columns");
  if (uint64_t{bound->rows} + bound->start > kRopePositionMax) {
    return error_of("Kernel '{}' has {} rows from position {}; it has positions below {}.",
                    entry.name, bound->rows, bound->start, kRopePositionMax);
  }
  return bound;
}

}  // namespace interlock
