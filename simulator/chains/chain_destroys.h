// ChainDestroys: what is pending at the `destroy` statements of a program with several queues,
// straight from the definition: every access of their bytes, by the search of chains.
#pragma once

#include <compare>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

struct ChainDestroy {
  LifetimeId destroy;
  DispatchId access;
  Stage stage = Stage::kCompute;  // Where it executes.

  auto operator<=>(const ChainDestroy&) const = default;
};

// Returns each access, of those that stand before the destroy in the text and those that come
// before it in the run of semaphores that count, which no chain lets be over by then; of what runs.
// Pins keep nothing waiting. Requires: as chain_hazards_of(). Cost: destroys times accesses, times
// a search.
std::vector<ChainDestroy> chain_destroys_of(const Program& program);

}  // namespace interlock
