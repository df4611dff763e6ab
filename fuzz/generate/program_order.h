// Program order for generated programs: `order=` numbers that a reordering encoder could have left.
#pragma once

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Gives every dispatch of `draft` an `order=`: mostly one that data flow agrees with, so that the
// program is not reordered by it; in one of five drafts some dependencies are ignored.
// Requires: `draft` builds and has at most some hundred dispatches.
// Cost: O(pairs of accesses).
void give_program_order(ProgramDraft& draft, Choice& choice);

}  // namespace interlock
