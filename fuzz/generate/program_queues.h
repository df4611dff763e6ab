// Queues for generated programs.
#pragma once

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Declares two to four serial queues and puts each dispatch and `split` on one of them, and some of
// the statements about values. Requires: `draft` has no queues and no other sync. It builds
// afterwards, too. Cost: linear.
void give_queues(ProgramDraft& draft, Choice& choice);

}  // namespace interlock
