#include "encoder/sync/interlock_scoped_encoder.h"

namespace interlock {

void InterlockScopedEncoder::encode(const EncoderDispatch& dispatch, CommandSink& sink) {
  take(uses_.needs_of(dispatch.accesses, dispatch.stage, dispatch.atomic_op), sink);
  uses_.add(dispatch.accesses, dispatch.stage, dispatch.atomic_op, epoch_);
  held_.push_back(dispatch.id);
}

// Where it ends nothing is forgotten, and it ends where it does among the dispatches.
void InterlockScopedEncoder::end_command_buffer(CommandSink& /*sink*/) { held_.emplace_back(); }

void InterlockScopedEncoder::wait_for(std::span<const Access> bytes, bool /*is_pending*/,
                                      CommandSink& sink) {
  take(uses_.needs_of_destroy(bytes), sink);
}

// Who waits cannot wait for the dispatches after the barrier, which would say what it needs.
void InterlockScopedEncoder::wait_for_all(CommandSink& sink) {
  issue_held(sink);
  clocks_.apply({kEverything, kEverything}, epoch_);
  sink.issue_barrier(BarrierKind::kFull);
  ++epoch_;
}

void InterlockScopedEncoder::finish(CommandSink& sink) { issue_held(sink); }

void InterlockScopedEncoder::take(const BarrierNeeds& needs, CommandSink& sink) {
  if (needs.latest() == epoch_) {
    issue_held(sink);
    ++epoch_;
    owes_barrier_ = true;
  }
  needs_ |= needs;
}

void InterlockScopedEncoder::issue_held(CommandSink& sink) {
  if (owes_barrier_) {
    const ScopePair scopes = fewest_scopes(clocks_, needs_, epoch_ - 1);
    clocks_.apply(scopes, epoch_ - 1);
    sink.issue_scoped_barrier(scopes.source, scopes.destination);
  }
  owes_barrier_ = false;
  for (const DispatchId id : held_) {
    if (id.is_some()) {
      sink.issue_dispatch(id);
    } else {
      sink.issue_split();
    }
  }
  held_.clear();
  needs_ = {};
}

}  // namespace interlock
