// ScopeClocks: how far scoped barriers on one queue have ordered the epochs between them.
#pragma once

#include <array>
#include <cstdint>

#include "encoder/program/scope.h"
#include "encoder/sync/barrier_needs.h"

namespace interlock {

// One dependency, which covers all memory.
struct ScopePair {
  Scope source;
  Scope destination;

  bool operator==(const ScopePair&) const = default;
};

class ScopeClocks {
 public:
  // A barrier of one dependency, after this epoch. Cost: constant, as of all here.
  void apply(const ScopePair& scopes, uint32_t epoch);

  bool meet(const BarrierNeeds& needs) const;

 private:
  // Epochs up to this number: of the stage of the earlier dispatch, see EpochByStage.
  std::array<EpochByStage, kStageCount> executed_{};       // Before this later stage.
  std::array<EpochByStage, kStageCount> available_{};      // What they wrote, to it.
  std::array<EpochByStage, kStageAccessCount> visible_{};  // To this sort of access.
  EpochByStage over_{};
};

// Returns scopes of a barrier after this epoch with which `clocks` meet `needs`, and of which
// nothing can go: no access, and no stage that has none, unless nothing of its side would be left.
// Accesses go before stages, so that caches are flushed where nothing else will do; and the stage
// that waits, or is waited for, longest goes first.
// Requires: a barrier of all stages and accesses does.
ScopePair fewest_scopes(const ScopeClocks& clocks, const BarrierNeeds& needs, uint32_t epoch);

}  // namespace interlock
