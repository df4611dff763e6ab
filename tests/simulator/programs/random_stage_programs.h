// Random programs of two concurrent queues whose sync names stages, as text: tiny ones.
#pragma once

#include <string>

#include "simulator/schedules/choice.h"

namespace interlock {

// A valid program of two to four dispatches in the stages compute and copy, on a few bytes, with
// batches of signals, waits before some stages, and barriers and events of several dependencies.
// A queue signals a semaphore of its own, with rising values, before others wait for it.
std::string random_stage_program(Choice& choice);

}  // namespace interlock
