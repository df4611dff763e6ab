// Command buffers for generated programs.
#pragma once

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Puts a `split` before some of the dispatches: one in two to eight, as is drawn. Cost: linear.
void give_splits(ProgramDraft& draft, Choice& choice);

}  // namespace interlock
