// Which of two dispatches its signals and waits let come first, whether or not they can all be met.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Returns the pairs (first, second), sorted, of dispatches in conflict of which the one that stands
// second in the text comes first by what is written: its queue leads from it to a signal, the wait
// for that to the other, over as many queues as it takes, and nothing leads back. What is ordered
// both ways, as within a circle, is not said at all; nor is anything with a legacy-default queue,
// where the text says it. Takes what it costs from `work_left`, and returns none where that is not
// enough. Cost: linear in the sync for each dispatch, and the pairs.
std::vector<std::pair<DispatchId, DispatchId>> pairs_stated_against_text(const Program& program,
                                                                         uint64_t& work_left);

}  // namespace interlock
