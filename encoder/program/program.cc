#include "encoder/program/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/names.h"

namespace interlock {

uint64_t size_bytes_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kU8:
      return 1;
  }
  INTERLOCK_CHECK(false);
}

std::string_view word_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kI32:
      return "i32";
    case DType::kU8:
      return "u8";
  }
  INTERLOCK_CHECK(false);
}

std::string_view clause_of(AccessMode mode) {
  switch (mode) {
    case AccessMode::kRead:
      return "reads";
    case AccessMode::kWrite:
      return "writes";
    case AccessMode::kUpdate:
      return "updates";
    case AccessMode::kAtomic:
      return "atomics";
    case AccessMode::kUniform:
      return "uniform";
  }
  INTERLOCK_CHECK(false);
}

std::string_view word_of(AtomicOp op) {
  switch (op) {
    case AtomicOp::kNone:
      return "none";
    case AtomicOp::kAdd:
      return "add";
    case AtomicOp::kMin:
      return "min";
    case AtomicOp::kMax:
      return "max";
    case AtomicOp::kAnd:
      return "and";
    case AtomicOp::kOr:
      return "or";
    case AtomicOp::kXor:
      return "xor";
  }
  INTERLOCK_CHECK(false);
}

std::string_view word_of(LifetimeKind kind) {
  switch (kind) {
    case LifetimeKind::kFree:
      return "free";
    case LifetimeKind::kDestroy:
      return "destroy";
    case LifetimeKind::kPin:
      return "pin";
    case LifetimeKind::kUnpin:
      return "unpin";
    case LifetimeKind::kReset:
      return "reset";
    case LifetimeKind::kAdopt:
      return "adopt";
  }
  INTERLOCK_CHECK(false);
}

std::string_view noun_of(StatementKind kind) {
  switch (kind) {
    case StatementKind::kDispatch:
      return "a dispatch";
    case StatementKind::kBarrier:
      return "a barrier";
    case StatementKind::kLifetime:
      return "a lifetime statement";
  }
  INTERLOCK_CHECK(false);
}

TensorId Program::find_tensor(std::string_view wanted) const {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (name(tensors[i].name) == wanted) return TensorId(i);
  }
  return {};
}

bool Program::has_any(LifetimeKind kind) const {
  return std::any_of(lifetimes.begin(), lifetimes.end(),
                     [kind](const Lifetime& lifetime) { return lifetime.kind == kind; });
}

std::string Program::reference_of(DispatchId id) const {
  const NameId label = statements[dispatch(id).statement.index].label;
  return label.is_some() ? std::string(name(label)) : fmt::format("{}", id.index);
}

std::string Program::reference_of(BarrierId id) const {
  const NameId label = statements[barriers[id.index].statement.index].label;
  return label.is_some() ? std::string(name(label)) : fmt::format("{}", id.index);
}

std::string Program::reference_of(LifetimeId id) const {
  const NameId label = statements[lifetimes[id.index].statement.index].label;
  return label.is_some() ? std::string(name(label)) : fmt::format("{}", id.index);
}

std::string Program::text_of(const Lifetime& lifetime) const {
  const NameId subject =
      lifetime.tensor.is_some() ? tensor(lifetime.tensor).name : memory(lifetime.memory).name;
  std::string text = fmt::format("{} {}", word_of(lifetime.kind), name(subject));
  if (lifetime.source.is_some()) text += fmt::format(" = {}", name(tensor(lifetime.source).name));
  return text;
}

std::string Program::description_of(DispatchId id) const {
  const Dispatch& d = dispatch(id);
  const NameId label = statements[d.statement.index].label;
  return fmt::format("{} (dispatch {})", name(label.is_some() ? label : d.kernel_name), id.index);
}

std::string Program::description_of(LifetimeId id) const {
  return fmt::format("{} (lifetime statement {})", text_of(lifetimes[id.index]), id.index);
}

std::string Program::text_of(const Access& access) const {
  const bool is_tensor = access.tensor.is_some();
  const std::string_view operand =
      name(is_tensor ? tensor(access.tensor).name : memory(access.memory).name);
  if (!access.is_sliced) {
    return std::string(operand);
  }
  const uint64_t start = is_tensor ? tensor(access.tensor).range.begin : 0;
  return fmt::format("{}[{}:{}]", operand, access.range.begin - start, access.range.end - start);
}

}  // namespace interlock
