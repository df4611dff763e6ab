// Binding: a dispatch as written against the entry of its kernel. Everything that a body relies on
// is checked here once, so that bodies and backends check nothing.
#include "encoder/kernel/kernel_binding.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

constexpr size_t kOperandsMax = 8;  // Of a table kernel.

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

Result<Success> check_modes(const KernelEntry& entry, std::span<const Access> accesses) {
  bool fits = accesses.size() == entry.operands.size();
  for (size_t i = 0; fits && i < accesses.size(); ++i) {
    fits = accesses[i].mode == entry.operands[i].mode;
  }
  if (fits) return Success{};
  size_t counts[kAccessModeCount] = {};
  for (const Access& access : accesses) ++counts[static_cast<size_t>(access.mode)];
  std::string found;
  for (size_t mode = 0; mode < kAccessModeCount; ++mode) {
    if (counts[mode] == 0) continue;
    found += fmt::format("{}{} {}", found.empty() ? "" : ", ",
                         clause_of(static_cast<AccessMode>(mode)), counts[mode]);
  }
  return error_of("Kernel '{}' {}; this dispatch {}.", entry.name, signature_of(entry),
                  found.empty() ? "has no operands" : found + " operand(s)");
}

// `size_bytes` outlives the shape.
Result<OperandShape> shape_of(const Program& program, const KernelEntry& entry, size_t operand,
                              const Access& access, uint64_t& size_bytes) {
  if (entry.is_bytewise) {
    size_bytes = access.range.size_bytes();
    return OperandShape{DType::kU8, {&size_bytes, 1}, false};
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
  return OperandShape{tensor.dtype, tensor.shape, true};
}

void set_attribute(KernelParams& params, std::string_view name, double value) {
  if (name == "value") {
    params.byte = static_cast<uint32_t>(value);
  } else if (name == "factor" || name == "lr") {
    params.factor = static_cast<float>(value);
  } else if (name == "beta1") {
    params.beta1 = static_cast<float>(value);
  } else if (name == "beta2") {
    params.beta2 = static_cast<float>(value);
  } else if (name == "weight_decay") {
    params.weight_decay = static_cast<float>(value);
  } else if (name == "step") {
    params.step = static_cast<uint32_t>(value);
  } else if (name == "base") {
    params.base = static_cast<float>(value);
  } else if (name == "start") {
    params.start = static_cast<uint32_t>(value);
  } else {
    INTERLOCK_CHECK(name == "eps");
    params.eps = static_cast<float>(value);
  }
}

Result<Success> check_attribute(const Program& program, const KernelEntry& entry,
                                const KernelAttribute& attribute, const Attribute& given) {
  const double value = given.number;
  const bool is_whole =
      given.is_number && value >= attribute.min_value && value <= attribute.max_value &&
      (!attribute.is_integer || value == static_cast<double>(static_cast<int64_t>(value)));
  if (is_whole) return Success{};
  return error_of("Attribute '{}' of kernel '{}' is '{}'; the kernel expects {} from {} to {}.",
                  attribute.name, entry.name, program.name(given.text),
                  attribute.is_integer ? "a whole number" : "a number", attribute.min_value,
                  attribute.max_value);
}

const KernelAttribute* find_attribute(const KernelEntry& entry, std::string_view name) {
  for (const KernelAttribute& attribute : entry.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

Result<KernelParams> bind_attributes(const Program& program, const KernelEntry& entry,
                                     std::span<const Attribute> given) {
  KernelParams params;
  for (const KernelAttribute& attribute : entry.attributes) {
    size_t count = 0;
    for (const Attribute& candidate : given) {
      if (program.name(candidate.key) != attribute.name) continue;
      ++count;
      auto checked = check_attribute(program, entry, attribute, candidate);
      if (!checked) return checked.error();
      set_attribute(params, attribute.name, candidate.number);
    }
    if (count > 1) {
      return error_of("Attribute '{}' of kernel '{}' is given {} times; once is allowed.",
                      attribute.name, entry.name, count);
    }
    if (count == 0 && !attribute.default_value) {
      return error_of("Kernel '{}' needs the attribute '{}', as in '{}=0.5'.", entry.name,
                      attribute.name, attribute.name);
    }
    if (count == 0) set_attribute(params, attribute.name, *attribute.default_value);
  }
  for (const Attribute& candidate : given) {
    if (find_attribute(entry, program.name(candidate.key)) != nullptr) continue;
    std::string known;
    for (const KernelAttribute& attribute : entry.attributes) {
      known += fmt::format("{}'{}'", known.empty() ? "" : ", ", attribute.name);
    }
    return error_of("Kernel '{}' has no attribute '{}'; it has {}.", entry.name,
                    program.name(candidate.key), known.empty() ? "none" : known);
  }
  return params;
}

}  // namespace

Result<KernelParams> bind_kernel(const Program& program, const Dispatch& dispatch,
                                 const Limits& limits) {
  const KernelEntry& entry = kernel_entry(dispatch.kernel);
  if (entry.is_variadic) return KernelParams{};
  const std::span<const Access> accesses = program.accesses_of(dispatch);
  auto modes = check_modes(entry, accesses);
  if (!modes) return modes.error();
  if (dispatch.is_partial) {
    return error_of(
        "Kernel '{}' overwrites every byte of its outputs; only opaque dispatches can be partial.",
        entry.name);
  }
  std::array<OperandShape, kOperandsMax> shapes;
  std::array<uint64_t, kOperandsMax> sizes_bytes;
  INTERLOCK_CHECK(accesses.size() <= kOperandsMax);
  for (size_t i = 0; i < accesses.size(); ++i) {
    const auto shape = shape_of(program, entry, i, accesses[i], sizes_bytes[i]);
    if (!shape) return shape.error();
    shapes[i] = *shape;
  }
  auto params = bind_attributes(program, entry, program.attributes_of(dispatch));
  if (!params) return params.error();
  return entry.bind(entry, std::span(shapes).first(accesses.size()), *params, limits);
}

KernelParams params_of(const Program& program, const Dispatch& dispatch) {
  Limits unlimited;  // The program was built, so it is within the limits of its builder.
  unlimited.kernel_extent = UINT32_MAX;
  return bind_kernel(program, dispatch, unlimited).value();
}

uint64_t slice_count_of(KernelId kernel, const KernelParams& params) {
  const KernelEntry& entry = kernel_entry(kernel);
  return entry.is_variadic ? 1 : entry.slice_count(params);
}

StridedRange slice_range_of(const Program& program, const Dispatch& dispatch,
                            const KernelParams& params, uint64_t slice, int access) {
  const KernelEntry& entry = kernel_entry(dispatch.kernel);
  const ByteRange range = program.accesses_of(dispatch)[static_cast<size_t>(access)].range;
  if (entry.is_variadic) return contiguous(range);
  StridedRange touched = entry.slice_range(params, slice, access);
  touched.begin += range.begin;
  return touched;
}

}  // namespace interlock
