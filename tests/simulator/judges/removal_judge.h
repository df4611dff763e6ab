// Which barriers can go, straight from the definition: each is left out, and all hazards are listed
// once more, byte by byte. Nothing in common with simulator/.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// One byte of one hazard. A uniform read is another access than a read: each asks for visibility.
struct ByteHazard {
  DispatchId first;
  DispatchId second;
  FindingKind kind = FindingKind::kReadAfterWrite;
  StageAccess sort = StageAccess::kComputeRead;  // Of the second access.
  MemoryId memory;
  uint64_t byte = 0;
  bool is_ordered = false;  // Executes in order, and is not visible.

  auto operator<=>(const ByteHazard&) const = default;
};

// Cost of all: pairs of accesses times bytes, times exponential in barriers.
std::set<ByteHazard> byte_hazards_of(const Program& program);

// `program` without a barrier.
Program without_barrier(const Program& program, BarrierId barrier);

// Whether the barrier stands within a hazard and names, on its side, the stage of one of the two.
bool fails_to_order(const Program& program, BarrierId barrier, const std::set<ByteHazard>& hazards);

// The barriers that fail to order no hazard, and without which the hazards are the same. Requires:
// nothing is destroyed.
std::vector<uint32_t> barriers_that_can_go(const Program& program);

}  // namespace interlock
