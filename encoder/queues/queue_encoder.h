// Encoders for several queues: each takes the dispatches of a program and returns them on queues,
// with signals and waits, or edges. They see the whole program, unlike those of sync/encoder.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

class ExternalQueueEncoder;  // external_queue_encoder.h

struct QueueEncoderEntry {
  std::string_view name;
  std::string_view summary;  // One line for `interlock list encoders`.
  bool is_broken;            // Known to miss hazards: a model of a real bug.
  bool takes_queue_count;    // Else it is given 0.
  // What stands first in the text is what comes first: callers that cannot know the program to be
  // so give text_in_run_order() of it (simulator/order/). `queue_count` is at most; 0: as the
  // program says, or as the encoder chooses.
  // Errors: the program is not what check_host_work() (host_work.h) takes, or its queues are not
  // what the encoder is for; and limits. A stop leaves an empty program.
  Result<Program> (*encode)(const Program& program, uint32_t queue_count);
  bool knows_splits = false;  // Does something else where a command buffer ends.
  // Adds no order to what conflicts and to its queues, and places the fewest waits or edges that do
  // not, if no queue passes on what it has waited for: campaigns hold it to that, where the host
  // does nothing.
  bool places_fewest = false;
  // Leaves dispatches on the queues that the program says; else it chooses itself.
  bool takes_given_queues = false;
  // Takes what the host reads and writes, and the ends of values (host_work.h); else campaigns give
  // it dispatches alone.
  bool takes_host_work = true;
  // Puts all on one queue. A planner comes before it, as before those of sync/encoder.h.
  bool is_of_one_queue = false;
  // Of one that is no part of this build: then `encode` is null, and encode_by() asks this.
  ExternalQueueEncoder* external = nullptr;
};

// In queue_registry.cc, which knows all of them.
std::span<const QueueEncoderEntry> queue_encoder_registry();

// Returns null if there is none of this name.
const QueueEncoderEntry* find_queue_encoder(std::string_view name);

}  // namespace interlock
