// Binding: a dispatch as written against the entry of its kernel. Everything that a body relies on
// is checked here once, so that bodies and backends check nothing.
#include "encoder/kernel/kernel_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "encoder/kernel/kernel_rules.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/program/registry.h"

namespace interlock {
namespace {

uint64_t divide_up(uint64_t n, uint64_t divisor) { return n / divisor + (n % divisor != 0); }

// "reads x w writes y"
std::string signature_of(const KernelEntry& entry) {
  std::string text;
  std::string_view clause;
  for (const KernelOperand& operand : entry.operands) {
    if (clause_of(operand.mode) != clause) {
      clause = clause_of(operand.mode);
      text += fmt::format("{}{}", text.empty() ? "" : " ", clause);
    }
    text += fmt::format(" {}", operand.name);
  }
  return text;
}

// What is found wrong here and below; none, nearly always.
using Defect = std::optional<Error>;

// Whether the access is a row of the operand that the one before it is a row of.
bool is_next_row(std::span<const Access> accesses, size_t i) {
  return i > 0 && accesses[i].stride != Access::kNotStrided &&
         accesses[i].stride == accesses[i - 1].stride;
}

Defect mode_defect(const KernelEntry& entry, std::span<const Access> accesses) {
  if (std::ranges::equal(accesses, entry.operands, {}, &Access::mode, &KernelOperand::mode)) {
    return std::nullopt;
  }
  size_t counts[kAccessModeCount] = {};
  std::vector<AccessMode> modes;  // By operand.
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (is_next_row(accesses, i)) continue;
    modes.push_back(accesses[i].mode);
    ++counts[static_cast<size_t>(accesses[i].mode)];
  }
  if (std::ranges::equal(modes, entry.operands, {}, {}, &KernelOperand::mode)) return std::nullopt;
  std::string found;
  for (size_t mode = 0; mode < kAccessModeCount; ++mode) {
    if (counts[mode] == 0) continue;
    found += fmt::format("{}{} {}", found.empty() ? "" : ", ",
                         clause_of(static_cast<AccessMode>(mode)), counts[mode]);
  }
  return error_of("Kernel '{}' {}; this dispatch {}.", entry.name, signature_of(entry),
                  found.empty() ? "has no operands" : found + " operand(s)");
}

// Sets the shape, which ends with `size_bytes`.
Defect find_shape(const Program& program, const KernelEntry& entry, size_t operand,
                  const Access& access, uint64_t& size_bytes, OperandShape& shape) {
  if (entry.is_bytewise) {
    size_bytes = access.range.size_bytes();
    shape = OperandShape(&size_bytes, 1);
    return std::nullopt;
  }
  const std::string_view name = entry.operands[operand].name;
  const DType dtype = entry.operands[operand].dtype;
  if (access.is_sliced || !access.tensor.is_some()) {
    return error_of("Operand '{}' of kernel '{}' is {} '{}'; the kernel expects a whole {} tensor.",
                    name, entry.name, access.is_sliced ? "the slice" : "the raw memory",
                    program.text_of(access), word_of(dtype));
  }
  const Tensor& tensor = program.tensor(access.tensor);
  if (tensor.dtype != dtype) {
    return error_of("Operand '{}' of kernel '{}' has dtype {}; the kernel expects {}.", name,
                    entry.name, word_of(tensor.dtype), word_of(dtype));
  }
  shape = OperandShape(tensor.shape);
  return std::nullopt;
}

void set_attribute(KernelParams& params, const KernelAttribute& attribute, double value) {
  std::visit(
      [&](auto member) {
        using Number = std::remove_reference_t<decltype(params.*member)>;
        params.*member = static_cast<Number>(value);
      },
      attribute.member);
}

Defect attribute_defect(const Program& program, const KernelEntry& entry,
                        const KernelAttribute& attribute, const Attribute& given) {
  const double value = given.number;
  const bool is_whole =
      given.is_number && value >= attribute.min_value && value <= attribute.max_value &&
      (!attribute.is_integer() || value == static_cast<double>(static_cast<int64_t>(value)));
  if (is_whole) return std::nullopt;
  return error_of("Attribute '{}' of kernel '{}' is '{}'; the kernel expects {} from {} to {}.",
                  attribute.name, entry.name, program.name(given.text),
                  attribute.is_integer() ? "a whole number" : "a number", attribute.min_value,
                  attribute.max_value);
}

Defect bind_attributes(const Program& program, const KernelEntry& entry,
                       std::span<const Attribute> given, KernelParams& params) {
  for (const KernelAttribute& attribute : entry.attributes) {
    size_t count = 0;
    for (const Attribute& candidate : given) {
      if (program.name(candidate.key) != attribute.name) continue;
      ++count;
      if (auto defect = attribute_defect(program, entry, attribute, candidate)) return defect;
      set_attribute(params, attribute, candidate.number);
    }
    if (count > 1) {
      return error_of("Attribute '{}' of kernel '{}' is given {} times; once is allowed.",
                      attribute.name, entry.name, count);
    }
    if (count == 0 && !attribute.default_value) {
      return error_of("Kernel '{}' needs the attribute '{}', as in '{}=0.5'.", entry.name,
                      attribute.name, attribute.name);
    }
    if (count == 0) set_attribute(params, attribute, *attribute.default_value);
  }
  for (const Attribute& candidate : given) {
    if (find_entry(entry.attributes, program.name(candidate.key)) != nullptr) continue;
    std::string known;
    for (const KernelAttribute& attribute : entry.attributes) {
      known += fmt::format("{}'{}'", known.empty() ? "" : ", ", attribute.name);
    }
    return error_of("Kernel '{}' has no attribute '{}'; it has {}.", entry.name,
                    program.name(candidate.key), known.empty() ? "none" : known);
  }
  return std::nullopt;
}

// Of as many bytes as its rows have, and one slice, which touches them whole.
Result<KernelParams> bind_rows(const Program& program, const Dispatch& dispatch,
                               const Limits& limits) {
  const KernelEntry& entry = kernel_entry(dispatch.kernel);
  const std::span<const Access> accesses = program.accesses_of(dispatch);
  std::array<uint64_t, kTableOperandsMax> sizes_bytes = {};
  std::array<OperandShape, kTableOperandsMax> shapes;
  size_t operand_count = 0;
  for (size_t i = 0; i < accesses.size(); ++i) {
    operand_count += !is_next_row(accesses, i);
    sizes_bytes[operand_count - 1] += accesses[i].range.size_bytes();
  }
  for (size_t i = 0; i < operand_count; ++i) shapes[i] = OperandShape(&sizes_bytes[i], 1);
  KernelParams params;
  if (auto defect = bind_attributes(program, entry, program.attributes_of(dispatch), params)) {
    return *std::move(defect);
  }
  auto bound = entry.bind(entry, std::span(shapes).first(operand_count), params, limits);
  if (bound) bound->block = std::max<uint64_t>(1, bound->element_count);
  return bound;
}

}  // namespace

Result<KernelParams> bind_kernel(const Program& program, const Dispatch& dispatch,
                                 const Limits& limits) {
  const KernelEntry& entry = kernel_entry(dispatch.kernel);
  if (entry.is_variadic) return KernelParams{};
  const std::span<const Access> accesses = program.accesses_of(dispatch);
  if (auto defect = mode_defect(entry, accesses)) return *std::move(defect);
  if (dispatch.is_partial) {
    return error_of(
        "Kernel '{}' overwrites every byte of its outputs; only opaque dispatches can be partial.",
        entry.name);
  }
  if (has_rows(program, dispatch)) return bind_rows(program, dispatch, limits);
  std::array<OperandShape, kTableOperandsMax> shapes;
  std::array<uint64_t, kTableOperandsMax> sizes_bytes;
  INTERLOCK_CHECK(accesses.size() <= kTableOperandsMax);
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (auto defect = find_shape(program, entry, i, accesses[i], sizes_bytes[i], shapes[i])) {
      return *std::move(defect);
    }
  }
  KernelParams params;
  if (auto defect = bind_attributes(program, entry, program.attributes_of(dispatch), params)) {
    return *std::move(defect);
  }
  auto bound = entry.bind(entry, std::span(shapes).first(accesses.size()), params, limits);
  if (bound && entry.smallest_block > 0) {
    const uint64_t count = extent_of(*bound, entry.sliced);
    const uint64_t factor = divide_up(count, entry.smallest_block * kBlockCountMax);
    bound->block = entry.smallest_block * std::max<uint64_t>(1, factor);
  }
  return bound;
}

KernelParams params_of(const Program& program, const Dispatch& dispatch) {
  Limits unlimited;  // The program was built, so it is within the limits of its builder.
  unlimited.kernel_extent = UINT32_MAX;
  return bind_kernel(program, dispatch, unlimited).value();
}

uint64_t slice_count_of(KernelId kernel, const KernelParams& params) {
  const KernelEntry& entry = kernel_entry(kernel);
  if (entry.is_variadic) return 1;
  return std::max<uint64_t>(1, divide_up(extent_of(params, entry.sliced), params.block));
}

SliceRanges::SliceRanges(const Program& program, const Dispatch& dispatch,
                         const KernelParams& params, size_t access)
    : block_(params.block) {
  const KernelEntry& entry = kernel_entry(dispatch.kernel);
  const ByteRange range = program.accesses_of(dispatch)[access].range;
  begin_ = range.begin;
  row_bytes_ = range.size_bytes();
  if (entry.is_variadic || has_rows(program, dispatch)) return;
  const OperandExtents extents = entry.shapes.empty() ? OperandExtents{} : entry.shapes[access];
  row_count_ = extent_of(params, extents.first);
  row_bytes_ = extent_of(params, extents.second) * (entry.is_bytewise ? 1 : kElementBytes);
  extent_ = extent_of(params, entry.sliced);
  if (extents.first == entry.sliced) {
    form_ = Form::kRows;
  } else if (extents.second == entry.sliced) {
    form_ = Form::kColumns;
  } else {
    row_bytes_ *= row_count_;
  }
}

StridedRange slice_range_of(const Program& program, const Dispatch& dispatch,
                            const KernelParams& params, uint64_t slice, int access) {
  return SliceRanges(program, dispatch, params, static_cast<size_t>(access)).of(slice);
}

}  // namespace interlock
