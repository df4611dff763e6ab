// Queue mutation: changes of a program of several queues that its sync and its queues are about.
#pragma once

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Something is of a declared queue, of a semaphore or of the host.
bool has_queue_items(const ProgramDraft& draft);

// Makes one change: a statement of sync or of the host dropped, doubled or moved; something put on
// another queue; a queue, a memory, a value, stages, a dependency or an edge changed; a signal and
// a wait for it put in. Does nothing where the one that is drawn does not apply. The result need
// not be valid.
void mutate_queues(ProgramDraft& draft, Choice& choice);

}  // namespace interlock
