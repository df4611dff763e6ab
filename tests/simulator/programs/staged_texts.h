// Texts of programs on one queue whose dispatches execute in different stages.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/schedules/choice.h"

namespace interlock {

// Returns a program without sync, of 2 to `dispatch_count_max` dispatches of all stages on eight
// bytes. Requires: at least 2.
std::string random_staged_text(Choice& choice, uint64_t dispatch_count_max);

}  // namespace interlock
