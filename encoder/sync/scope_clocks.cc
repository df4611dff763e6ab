// The rules of docs/theory.md, "Scopes: available and visible", on epochs. A dependency takes what
// was so before it: of its source stages, and of the epochs that it covers itself; and gives that
// to its destination.
#include "encoder/sync/scope_clocks.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr StageAccess kWrites[] = {StageAccess::kComputeWrite, StageAccess::kCopyWrite,
                                   StageAccess::kGraphicsWrite, StageAccess::kHostWrite};
constexpr StageMask kAfterIndirect = bit_of(Stage::kCompute) | bit_of(Stage::kGraphics);

constexpr bool has(StageMask stages, size_t stage) { return (stages >> stage & 1) != 0; }
constexpr bool has(AccessMask accesses, StageAccess access) {
  return (accesses & bit_of(access)) != 0;
}

// The indirect stage of a command comes before its compute or graphics stage: who waits for the
// latter waits for the former, and who holds back the former holds back the latter.
StageMask waited_for(StageMask stages) {
  const bool adds = (stages & kAfterIndirect) != 0;
  return adds ? static_cast<StageMask>(stages | bit_of(Stage::kIndirect)) : stages;
}
StageMask held_back(StageMask stages) {
  const bool adds = (stages & bit_of(Stage::kIndirect)) != 0;
  return adds ? static_cast<StageMask>(stages | kAfterIndirect) : stages;
}

bool reach(const EpochByStage& epochs, const EpochByStage& needed) {
  for (size_t i = 0; i < kStageCount; ++i) {
    if (epochs[i] < needed[i]) return false;
  }
  return true;
}

void raise_to(EpochByStage& epochs, const EpochByStage& to) {
  for (size_t i = 0; i < kStageCount; ++i) epochs[i] = std::max(epochs[i], to[i]);
}

}  // namespace

void ScopeClocks::apply(const ScopePair& scopes, uint32_t epoch) {
  const StageMask from = waited_for(scopes.source.stages);
  const StageMask to = held_back(scopes.destination.stages);
  EpochByStage executed{};
  EpochByStage available{};
  for (size_t stage = 0; stage < kStageCount; ++stage) {
    if (has(scopes.source.stages, stage)) over_[stage] = epoch;
    if (!has(from, stage)) continue;
    raise_to(executed, executed_[stage]);
    raise_to(available, available_[stage]);
    executed[stage] = epoch;
  }
  for (const StageAccess write : kWrites) {
    if (has(scopes.source.accesses, write)) {
      available[static_cast<size_t>(stage_of(write))] = epoch;
    }
  }
  for (size_t stage = 0; stage < kStageCount; ++stage) {
    if (!has(to, stage)) continue;
    raise_to(executed_[stage], executed);
    raise_to(available_[stage], available);
  }
  for (size_t sort = 0; sort < kStageAccessCount; ++sort) {
    if (has(scopes.destination.accesses, static_cast<StageAccess>(sort))) {
      raise_to(visible_[sort], available);
    }
  }
}

bool ScopeClocks::meet(const BarrierNeeds& needs) const {
  for (size_t i = 0; i < executed_.size(); ++i) {
    if (!reach(executed_[i], needs.executed[i])) return false;
  }
  for (size_t i = 0; i < visible_.size(); ++i) {
    if (!reach(visible_[i], needs.visible[i])) return false;
  }
  return reach(over_, needs.over);
}

ScopePair fewest_scopes(const ScopeClocks& clocks, const BarrierNeeds& needs, uint32_t epoch) {
  ScopePair scopes = {kEverything, kEverything};
  const auto suffice = [&](const ScopePair& candidate) {
    ScopeClocks after = clocks;
    after.apply(candidate, epoch);
    return after.meet(needs);
  };
  INTERLOCK_CHECK(suffice(scopes));
  const auto drop_accesses = [&](Scope ScopePair::*side) {
    for (size_t sort = 0; sort < kStageAccessCount; ++sort) {
      ScopePair fewer = scopes;
      (fewer.*side).accesses &= static_cast<AccessMask>(~bit_of(static_cast<StageAccess>(sort)));
      if (suffice(fewer)) scopes = fewer;
    }
  };
  const auto drop_stage = [&](Scope ScopePair::*side, Stage stage) {
    for (size_t sort = 0; sort < kStageAccessCount; ++sort) {
      const StageAccess access = static_cast<StageAccess>(sort);
      if (stage_of(access) == stage && has((scopes.*side).accesses, access)) return;
    }
    ScopePair fewer = scopes;
    (fewer.*side).stages &= static_cast<StageMask>(~bit_of(stage));
    if ((fewer.*side).stages != 0 && suffice(fewer)) scopes = fewer;
  };
  drop_accesses(&ScopePair::source);
  drop_accesses(&ScopePair::destination);
  for (const Stage stage : {Stage::kTransition, Stage::kHost, Stage::kGraphics, Stage::kCompute,
                            Stage::kCopy, Stage::kIndirect}) {
    drop_stage(&ScopePair::source, stage);
  }
  for (const Stage stage : {Stage::kTransition, Stage::kHost, Stage::kIndirect, Stage::kGraphics,
                            Stage::kCopy, Stage::kCompute}) {
    drop_stage(&ScopePair::destination, stage);
  }
  return scopes;
}

}  // namespace interlock
