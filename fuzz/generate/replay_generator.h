// Generator of programs with recorded statements: static buffers that are filled, replays, and
// gradients that are added up outside of the recording. What replay policies are tried on.
#pragma once

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Returns a draft that builds, places no tensor, and in which nothing is wrong, whatever `choice`
// says: with every value on bytes of its own, and sync by a right encoder, no check has a finding.
// Cost: some microseconds.
ProgramDraft generate_replays(Choice& choice);

}  // namespace interlock
