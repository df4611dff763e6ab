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
// by a statement of the host in the order of the text, by one of a queue in that of the run. A
// destroy that the text never carries out an unpin does that carries it out in the run.
// Requires: as chain_hazards_of(). Cost: bytes that differ times statements; destroys times
// accesses, times a search.
std::vector<ChainDestroy> chain_destroys_of(const Program& program);

}  // namespace interlock
