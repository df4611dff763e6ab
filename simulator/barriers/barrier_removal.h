// The removal of one barrier: what it does to the hazards of a program, byte by byte.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"

namespace interlock {

struct BarrierRemoval {
  const Program& with;
  const Program& without;  // `with` but for `barrier`.
  BarrierId barrier;       // Of `with`.
  uint32_t slot;           // How many dispatches stand before it.
};

enum class RemovalVerdict : uint8_t { kNeeded, kRedundant, kUnknown };

// Redundant: each pair of accesses has the same hazard on the same bytes without the barrier, and
// is ordered as it was; and the barrier fails to order none. It fails to order a hazard if it
// stands between the two and names, on its side, the stage of either: it was meant for it. An
// execution barrier names all stages.
// Takes its work from `work_left`. Unknown: that, or the bound for one barrier, is too small.
// Cost: two checks for hazards, and where there are any, each pair of dispatches around the barrier
// that has one: their operands, and what find_invisible of HappensBefore costs for each run.
RemovalVerdict judge_removal(const BarrierRemoval& removal, uint64_t& work_left);

}  // namespace interlock
