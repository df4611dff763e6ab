// Queue launches: replays on serial queues of what was recorded with edges, as CUDA launches graphs
// on streams. Added to what generate_queues() and add_queue_meanings() have made, which stays as it
// is otherwise.
#pragma once

#include "encoder/program/draft.h"
#include "fuzz/generate/queue_generator.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Records two to four dispatches on the memories of `draft`, with edges, and replays them anywhere
// on its serial queues, once to four times. Does nothing where there is no such queue, or
// dispatches have an `order=`. `counts`, if given, is added to. Requires: `draft` is as said above.
// It builds afterwards, too. Cost: linear.
void add_queue_launches(ProgramDraft& draft, Choice& choice, QueueFeatureCounts* counts = nullptr);

}  // namespace interlock
