// PlaceClass: of which programs the fewest waits are told by places, and what queues order each
// other without a wait.
#pragma once

#include <cstddef>
#include <string_view>

#include "encoder/program/program.h"

namespace interlock {

// Returns why nothing is said of how few waits `program` could do with, as what follows "as": the
// host goes on after a wait, a graph is launched, and so on; empty if something can be said, or the
// dispatches are all of one queue. Requires: `program` is in reference order. Cost: linear.
std::string_view why_not_by_places(const Program& program);

// More dispatches than that, of the host too, are not judged by places.
inline constexpr size_t kPlaceDispatchesMax = 1024;

}  // namespace interlock
