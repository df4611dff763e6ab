// A submission, one command after another: what CommandSink::issue_submission() says.
#pragma once

#include <cstdint>
#include <span>

#include "encoder/sync/encoder.h"
#include "encoder/sync/queue_point.h"

namespace interlock {

// `Sink`: a CommandSink, or a final class of it, whose methods are then called without a look-up.
template <typename Sink>
void issue_one_by_one(Sink& sink, QueueIndex queue, std::span<const QueuePoint> waits,
                      DispatchId id, uint64_t number) {
  sink.use_queue(queue);
  for (const QueuePoint& point : waits) {
    sink.issue_wait({.semaphore = point.queue, .value = point.number});
  }
  sink.issue_dispatch(id);
  sink.issue_signal({.semaphore = queue, .value = number});
}

}  // namespace interlock
