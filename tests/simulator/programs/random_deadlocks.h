// Random programs of several queues that wait for each other, as text: most of them get stuck.
#pragma once

#include <string>

#include "simulator/schedules/choice.h"

namespace interlock {

// A valid program of two to five queues of any kinds and the host. Each semaphore is signaled from
// one place, with rising values; signals and the waits for them stand anywhere.
std::string random_deadlock(Choice& choice);

}  // namespace interlock
