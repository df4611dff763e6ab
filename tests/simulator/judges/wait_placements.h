// WaitPlacements: the fewest waits of serial queues that add no order, by trying all placements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// What a placement of signals and waits has to order, and nothing else: a closed order of
// dispatches, each after those before it on its line.
struct PlacementTask {
  std::vector<uint32_t> line_of;             // By dispatch.
  std::vector<std::vector<bool>> is_before;  // [a][b]: a comes before b.
};

// By what `program` declares, byte by byte, and the queues that dispatches are on.
// Cost: the cube of the dispatches, and the bytes of their pairs.
PlacementTask placement_task_of(const Program& program);

// The pairs of two lines with no dispatch between them.
uint64_t crossing_count_of(const PlacementTask& task);

// The fewest waits of a placement of fewer than `end` that orders just what the task says, each
// with a signal of its own; none if there is none. `passes_on`: between two dispatches of a line
// signals may come after waits, in any order; else they come first. `idle_count`: lines without a
// dispatch, which signal and wait all the same.
// Cost: exponential in `end`; meant for six dispatches and four waits.
std::optional<uint64_t> fewest_waits_by_trial(const PlacementTask& task, uint64_t end,
                                              bool passes_on, size_t idle_count = 0);

}  // namespace interlock
