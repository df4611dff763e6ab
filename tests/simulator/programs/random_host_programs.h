// Random programs of one queue and the host, as text: tiny ones, for judges of the host's cache.
#pragma once

#include <string>

#include "simulator/schedules/choice.h"

namespace interlock {

// Two to four accesses by the host and a device to a memory of two or three bytes, and between any
// two what they need, of which each piece is left out now and then. Nearly all are valid.
std::string random_host_program(Choice& choice);

}  // namespace interlock
