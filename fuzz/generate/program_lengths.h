// Long programs: an encoder that forgets after so many accesses is right on all short ones.
#pragma once

#include <cstdint>

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// One run in so many is long.
inline constexpr uint64_t kLongPeriod = 256;

// Puts dispatches that conflict with nothing between two of `draft`: 16 to 511, short rows as
// likely as long ones, and at most 16 for each of `max_dispatches`. Each accesses one to four
// ranges of a memory of their own. So whatever the two have in conflict lies that far apart. The
// draft still builds. Requires: it has no `order=`. Cost: linear.
void lengthen(ProgramDraft& draft, Choice& choice, uint32_t max_dispatches);

}  // namespace interlock
