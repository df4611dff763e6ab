// ChainHazards: the hazards of a program with several queues, straight from the definition: every
// pair of accesses, byte by byte, by the search of chains and semaphores that count.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>

#include "encoder/program/program.h"

namespace interlock {

// One byte of one hazard.
struct ChainHazard {
  DispatchId first;  // Earlier in the run of semaphores that count.
  DispatchId second;
  FindingKind kind = FindingKind::kReadAfterWrite;
  StageAccess sort = StageAccess::kComputeRead;  // Of the second access.
  Stage first_stage = Stage::kCompute;
  MemoryId memory;
  uint64_t byte = 0;
  bool is_ordered = false;

  auto operator<=>(const ChainHazard&) const = default;
};

// None if some statement never runs. Requires: `program` was parsed; one queue, or the host,
// signals a semaphore, with rising values. Cost: pairs of accesses times bytes, times a search.
std::optional<std::set<ChainHazard>> chain_hazards_of(const Program& program);

}  // namespace interlock
