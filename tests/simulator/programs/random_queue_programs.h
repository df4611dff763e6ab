// Random programs with several queues, semaphores, events, edges and the host, as text.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/schedules/choice.h"

namespace interlock {

struct RandomQueueProgramOptions {
  uint64_t queue_count_max = 4;     // Of a device.
  uint64_t dispatch_count_max = 6;  // Those of the host among them; two at least.
  uint64_t sync_count_max = 9;
  uint64_t memory_bytes = 8;
};

// Returns a program that the parser takes nearly always, if it may have several queues. A semaphore
// is signaled by one queue, or by the host, with rising values; some wait for values that stand
// later in the text, so that one program in a few has a deadlock. What the program has of the rest
// is drawn once for it.
// Dispatches are labelled d0, d1, …, statements of the host too.
std::string random_queue_program(Choice& choice, const RandomQueueProgramOptions& options = {});

}  // namespace interlock
