// Which dispatches of a program are for a replay policy to decide.
#pragma once

#include <cstddef>
#include <vector>

#include "encoder/program/draft.h"

namespace interlock {

// The first accumulations, as replay.h has them: where in `draft.items` they stand, rising.
// Requires: `draft` is that of a program. Cost: linear, times log of the number of names.
std::vector<size_t> first_accumulations(const ProgramDraft& draft);

}  // namespace interlock
