// Queues for generated programs.
#pragma once

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Declares two to four serial queues and puts each dispatch and `split` on one of them, and some of
// the statements about values. Requires: `draft` has no queues and no other sync. It builds
// afterwards, too. Cost: linear.
void give_queues(ProgramDraft& draft, Choice& choice);

// Makes of a mutant of such programs what encoders for several queues take: of the queues the first
// four serial ones are left, what was on none of them is put on them in turn, and a statement about
// a value is left to the host. Without queues nothing names one. Memory is coherent. Cost: linear.
void settle_beside_host(ProgramDraft& draft);

}  // namespace interlock
