// What a piece of sync does, straight from the definition: it is cut out of the text, and all
// hazards are listed once more, byte by byte, by the search of chains and semaphores that count.
// Nothing in common with simulator/order and simulator/hazards.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

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

// `text` without the piece. Requires: it is a random_queue_program(), whose statements stand one a
// line, and was parsed as `program`, of which the piece is.
std::string text_without(const std::string& text, const Program& program, const SyncPiece& piece);

}  // namespace interlock
