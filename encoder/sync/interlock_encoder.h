// InterlockEncoder: our own. Byte exact over physical memory, so views, donations and reused slots
// need no care of their own; RAW, WAR and WAW; atomics of one operation overlap.
#pragma once

#include "encoder/sync/encoder.h"
#include "encoder/sync/tracker.h"

namespace interlock {

// Issues a full barrier before a dispatch iff the dispatch conflicts with one since the last
// barrier. No placement for the same order has fewer barriers: each barrier is forced by a conflict
// between its dispatch and one of the epoch that it ends. As intervals of the slots between
// dispatches those conflicts are disjoint, and each of them needs a barrier of its own. Cost: as
// HazardTracker::add, per dispatch.
class InterlockEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    if (tracker_.add(dispatch.accesses, dispatch.atomic_op)) sink.issue_barrier(BarrierKind::kFull);
    sink.issue_dispatch(dispatch.id);
  }
  void wait_for_all(CommandSink& sink) override {
    sink.issue_barrier(BarrierKind::kFull);
    tracker_.begin_epoch();
  }

 private:
  HazardTracker tracker_;
};

}  // namespace interlock
