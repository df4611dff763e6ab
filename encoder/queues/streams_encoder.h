// StreamsEncoder: our own for several serial queues, one dispatch at a time, as a runtime that has
// streams would do it. What encode_semaphores() (minimal_encoders.h) places for the whole of a
// program that says its queues, this places as the dispatches come: the same waits.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/queue_tracker.h"

namespace interlock {

// Issues each dispatch on its queue, after the waits that QueueTracker says, with a signal right
// after it: semaphore k is that of queue k, and its values count the dispatches there. A signal for
// which no wait comes is of no use, but nobody knows that yet. Requires: the queues of dispatches
// are serial, and below the queue_count. Cost: as QueueTracker::add(), per dispatch.
class StreamsEncoder final : public Encoder {
 public:
  explicit StreamsEncoder(uint32_t queue_count)
      : queue_count_(queue_count), tracker_(queue_count) {}

  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override;

  // Each queue waits for all others.
  void wait_for_all(CommandSink& sink) override;

 private:
  uint32_t queue_count_;
  QueueTracker tracker_;
};

// Puts the dispatches of `program` on the queues that it says, all of them serial, or, if it says
// none, on `queue_count` queues in turn; 0: on four. Any number of dispatches. Errors: as
// encode_semaphores(), but for their number. Cost: that of StreamsEncoder, and linear.
Result<Program> encode_streams(const Program& program, uint32_t queue_count);

}  // namespace interlock
