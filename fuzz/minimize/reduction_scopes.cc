// Passes over scoped barriers: what is left names what it takes and no more.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "fuzz/minimize/reduction.h"

namespace interlock {
namespace {

void simplify_kind(Reduction& reduction, size_t at) {
  for (const BarrierKind kind : {BarrierKind::kFull, BarrierKind::kExecution}) {
    const bool is_simpler = reduction.attempt_change<BarrierDraft>(at, [&](BarrierDraft& barrier) {
      barrier.kind = kind;
      barrier.dependencies.clear();
    });
    if (is_simpler) return;
  }
}

void drop_barrier_operands(Reduction& reduction, size_t at, size_t dependency) {
  const auto operands = [dependency](auto& barrier) -> auto& {
    return barrier.dependencies[dependency].operands;
  };
  const bool are_gone = reduction.attempt_change<BarrierDraft>(
      at, [&](BarrierDraft& barrier) { operands(barrier).clear(); });
  if (are_gone || operands(reduction.item<BarrierDraft>(at)).size() <= 1) return;
  reduction.drop_elements<BarrierDraft>(at, operands);
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
  const auto scope = [=](auto& barrier) -> auto& { return barrier.dependencies[dependency].*side; };
  bool has_shrunk = true;
  while (has_shrunk) {
    const std::vector<Scope> candidates = smaller_scopes(scope(reduction.item<BarrierDraft>(at)));
    has_shrunk = std::ranges::any_of(candidates, [&](Scope smaller) {
      return reduction.attempt_change<BarrierDraft>(
          at, [&](BarrierDraft& barrier) { scope(barrier) = smaller; });
    });
  }
}

}  // namespace

void simplify_barriers(Reduction& reduction) {
  reduction.for_each<BarrierDraft>([&](size_t at) {
    if (reduction.item<BarrierDraft>(at).kind != BarrierKind::kScoped) return;
    simplify_kind(reduction, at);
    reduction.drop_elements<BarrierDraft>(at, &BarrierDraft::dependencies);
    for (size_t k = 0; k < reduction.item<BarrierDraft>(at).dependencies.size(); ++k) {
      reduction.attempt_change<BarrierDraft>(at, [k](BarrierDraft& barrier) {
        barrier.dependencies[k].transition = TransitionKind::kNone;
      });
      drop_barrier_operands(reduction, at, k);
      shrink_scope(reduction, at, k, &DependencyDraft::source);
      shrink_scope(reduction, at, k, &DependencyDraft::destination);
    }
  });
}

}  // namespace interlock
