#include "encoder/program/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/draft_text.h"

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

namespace {

// The label of the statement, else `index` in decimal.
std::string reference(const Program& program, StatementId statement, uint32_t index) {
  const NameId label = program.statements[statement.index].label;
  return label.is_some() ? std::string(program.name(label)) : std::to_string(index);
}

}  // namespace

std::string Program::reference_of(DispatchId id) const {
  return reference(*this, dispatch(id).statement, id.index);
}

std::string Program::reference_of(BarrierId id) const {
  return reference(*this, barriers[id.index].statement, id.index);
}

std::string Program::reference_of(LifetimeId id) const {
  return reference(*this, lifetimes[id.index].statement, id.index);
}

std::string Program::text_of(const Lifetime& lifetime) const {
  return interlock::text_of(draft_of(*this, lifetime, NameId()));
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
  return interlock::text_of(draft_of(*this, access));
}

}  // namespace interlock
