#include "encoder/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "encoder/program/check.h"
#include "encoder/program/draft_text.h"
#include "encoder/program/words.h"

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

// A new enumerator needs its word.
static_assert(std::size(kDTypeWords) == static_cast<size_t>(DType::kU8) + 1);
static_assert(std::size(kClauseWords) == kAccessModeCount);
static_assert(std::size(kAtomicOpWords) == static_cast<size_t>(AtomicOp::kXor) + 1);
static_assert(std::size(kLifetimeWords) == static_cast<size_t>(LifetimeKind::kAdopt) + 1);
static_assert(std::size(kInitialWords) == static_cast<size_t>(InitialKind::kValues) + 1);
static_assert(std::size(kPlacementWords) == static_cast<size_t>(Placement::kDonation) + 1);

std::string_view word_of(DType dtype) { return word_in(kDTypeWords, dtype); }
std::string_view clause_of(AccessMode mode) { return word_in(kClauseWords, mode); }
std::string_view word_of(AtomicOp op) { return word_in(kAtomicOpWords, op); }
std::string_view word_of(LifetimeKind kind) { return word_in(kLifetimeWords, kind); }

std::string_view noun_of(StatementKind kind) {
  constexpr std::string_view kNouns[] = {"a dispatch", "a barrier", "a lifetime statement"};
  return word_in(kNouns, kind);
}

TensorId Program::find_tensor(std::string_view wanted) const {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (name(tensors[i].name) == wanted) return TensorId(i);
  }
  return {};
}

bool Program::has_any(LifetimeKind kind) const {
  return std::ranges::find(lifetimes, kind, &Lifetime::kind) != lifetimes.end();
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
