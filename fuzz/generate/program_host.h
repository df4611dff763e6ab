// The host, and the ends of values, for generated programs.
#pragma once

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Lets the host read and write some ranges of the memories that are declared, between the
// dispatches, and frees or destroys some of the values whose memory nothing reads any more. Nobody
// reads what has ended so, and what the host writes is nobody's. Requires: `draft` has dispatches
// as its only statements. It builds afterwards, too. Cost: linear, times what is added.
void give_host_work(ProgramDraft& draft, Choice& choice);

}  // namespace interlock
