// Passes over scoped barriers: what is left names what it takes and no more.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "fuzz/generate/draft_positions.h"
#include "fuzz/minimize/reduction.h"

namespace interlock {
namespace {

BarrierDraft& barrier_of(ProgramDraft& draft, size_t at) {
  return std::get<BarrierDraft>(draft.items[at]);
}

const BarrierDraft& barrier_of(const Reduction& reduction, size_t at) {
  return std::get<BarrierDraft>(reduction.current().items[at]);
}

void simplify_kind(Reduction& reduction, size_t at) {
  for (const BarrierKind kind : {BarrierKind::kFull, BarrierKind::kExecution}) {
    if (reduction.is_over()) return;
    ProgramDraft candidate = reduction.current();
    barrier_of(candidate, at).kind = kind;
    barrier_of(candidate, at).dependencies.clear();
    if (reduction.attempt(std::move(candidate))) return;
  }
}

void drop_dependencies(Reduction& reduction, size_t at) {
  for (size_t k = barrier_of(reduction, at).dependencies.size(); k-- > 0;) {
    if (reduction.is_over()) return;
    ProgramDraft candidate = reduction.current();
    auto& dependencies = barrier_of(candidate, at).dependencies;
    dependencies.erase(dependencies.begin() + static_cast<std::ptrdiff_t>(k));
    reduction.attempt(std::move(candidate));
  }
}

void drop_barrier_operands(Reduction& reduction, size_t at, size_t dependency) {
  const size_t count = barrier_of(reduction, at).dependencies[dependency].operands.size();
  ProgramDraft without = reduction.current();
  barrier_of(without, at).dependencies[dependency].operands.clear();
  if (reduction.attempt(std::move(without))) return;
  for (size_t k = count; k-- > 0 && count > 1;) {
    if (reduction.is_over()) return;
    ProgramDraft candidate = reduction.current();
    auto& operands = barrier_of(candidate, at).dependencies[dependency].operands;
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(k));
    reduction.attempt(std::move(candidate));
  }
}

// The scopes that name one stage or one access less.
std::vector<Scope> smaller_scopes(Scope scope) {
  std::vector<Scope> smaller;
  for (const Stage stage : kStages) {
    if ((scope.stages & bit_of(stage)) == 0) continue;
    Scope without = scope;
    without.stages &= static_cast<StageMask>(~bit_of(stage));
    for (size_t i = 0; i < kStageAccessCount; ++i) {
      const auto access = static_cast<StageAccess>(i);
      if (stage_of(access) == stage) without.accesses &= static_cast<AccessMask>(~bit_of(access));
    }
    if (without.stages != 0) smaller.push_back(without);
  }
  for (size_t i = 0; i < kStageAccessCount; ++i) {
    const AccessMask bit = bit_of(static_cast<StageAccess>(i));
    if ((scope.accesses & bit) == 0) continue;
    smaller.push_back({scope.stages, static_cast<AccessMask>(scope.accesses & ~bit)});
  }
  return smaller;
}

void shrink_scope(Reduction& reduction, size_t at, size_t dependency,
                  Scope DependencyDraft::*side) {
  bool has_shrunk = true;
  while (has_shrunk && !reduction.is_over()) {
    has_shrunk = false;
    const Scope scope = barrier_of(reduction, at).dependencies[dependency].*side;
    for (const Scope smaller : smaller_scopes(scope)) {
      if (reduction.is_over()) return;
      ProgramDraft candidate = reduction.current();
      barrier_of(candidate, at).dependencies[dependency].*side = smaller;
      if (!reduction.attempt(std::move(candidate))) continue;
      has_shrunk = true;
      break;
    }
  }
}

}  // namespace

void simplify_barriers(Reduction& reduction) {
  for (const size_t at : positions_of<BarrierDraft>(reduction.current())) {
    if (reduction.is_over()) return;
    if (barrier_of(reduction, at).kind != BarrierKind::kScoped) continue;
    simplify_kind(reduction, at);
    drop_dependencies(reduction, at);
    for (size_t k = 0; k < barrier_of(reduction, at).dependencies.size(); ++k) {
      if (reduction.is_over()) return;
      drop_barrier_operands(reduction, at, k);
      shrink_scope(reduction, at, k, &DependencyDraft::source);
      shrink_scope(reduction, at, k, &DependencyDraft::destination);
    }
  }
}

}  // namespace interlock
