// Queue meanings: what stands beside sync in programs of several queues and says what values and
// dispatches are meant to be: `order=`, `pin`, `unpin`, `reset` and `adopt`, captures and their
// replays. Added to what generate_queues() has made, which stays as it is otherwise.
#pragma once

#include "encoder/program/draft.h"
#include "fuzz/generate/queue_generator.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Adds some of them, or none. Either all dispatches get an `order=`, mostly that of the text, or
// some statements in a row are recorded, replayed where they stood, and perhaps again; sync other
// than barriers is never recorded, nor are the ends of values. `counts`, if given, is added to.
// Requires: `draft` is by generate_queues(). It builds afterwards, too, with its signals in the
// order of their values. Cost: linear, times what is recorded.
void add_queue_meanings(ProgramDraft& draft, Choice& choice, QueueFeatureCounts* counts = nullptr);

}  // namespace interlock
