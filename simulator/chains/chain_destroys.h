// ChainDestroys: what is pending at the `destroy` statements of a program with several queues,
// straight from the definition: every access of their bytes, by the search of chains.
#pragma once

#include <compare>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

struct ChainDestroy {
  LifetimeId done_at;  // What carries it out: the destroy, or the unpin that it waits for.
  DispatchId access;
  Stage stage = Stage::kCompute;  // Where it executes.

  auto operator<=>(const ChainDestroy&) const = default;
};

// Returns each access, of those that stand before that statement in the text and those that come
// before it in the run of semaphores that count, which no chain lets be over by then; of what runs,
// sorted. What a statement carries out is found for one byte after another, of those that differ:
// a destroy of the host waits where a pin keeps the value in the order of the text or of the run.
// Requires: as chain_hazards_of(). Cost: bytes that differ times statements; destroys times
// accesses, times a search.
std::vector<ChainDestroy> chain_destroys_of(const Program& program);

}  // namespace interlock
