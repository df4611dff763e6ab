// PendingWork: which accesses may still be under way where a destroy is carried out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/queue_order.h"

namespace interlock {

// Accesses fall into tracks: of one queue its stages, else the places of all queues. Where the
// latest access of a track is over, so are all earlier ones of that track.
//
// On one queue an access is over once a barrier with its stage in the source has come. With queues
// the destroy takes place in its queue, whatever the stage, or in the order of the host: what is
// over is what executes before that (docs/theory.md, "Several queues").
class PendingWork {
 public:
  // `queues`: null for a program of one queue. All outlive this.
  PendingWork(const Program& program, const QueueOrder* queues);

  size_t track_count() const { return last_.size(); }

  // That of the dispatch, in which it does this access. Cost of all below: constant, but for
  // see_barrier().
  size_t track_of(DispatchId id, const Access& access) const;

  // Requires: calls come in the order of the statements.
  void see_barrier(BarrierId id, uint32_t next_dispatch);

  // The access may not be over where `at` is carried out.
  // Requires: on one queue, that is now.
  bool has(size_t track, DispatchId id, LifetimeId at) const;

  // The last barrier that covers the track came after the dispatch. Never with queues.
  bool is_before_last_barrier(size_t track, DispatchId id) const {
    return queues_ == nullptr && id.index < last_[track].begin;
  }

  // The barrier that alone orders the dispatch; none if there is another, or none, or queues.
  BarrierId only_barrier(size_t track, DispatchId id) const {
    const bool is_only =
        is_before_last_barrier(track, id) && id.index >= last_but_one_[track].begin;
    return is_only ? last_[track].barrier : BarrierId();
  }

 private:
  struct Cover {
    uint32_t begin = 0;  // The first dispatch after the barrier.
    BarrierId barrier;
  };

  const Program& program_;
  const QueueOrder* queues_;
  std::vector<Cover> last_;          // By track.
  std::vector<Cover> last_but_one_;  // By track.
};

}  // namespace interlock
