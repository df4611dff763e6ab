#include "encoder/sync/interlock_events_encoder.h"

#include <utility>

#include "encoder/program/check.h"

namespace interlock {

void InterlockEventsEncoder::encode(const EncoderDispatch& dispatch, CommandSink& sink) {
  take(uses_.needs_of(dispatch.accesses, dispatch.stage, dispatch.atomic_op), sink);
  uses_.add(dispatch.accesses, dispatch.stage, dispatch.atomic_op, ++count_);
  current_.issued.push_back(dispatch.id);
}

void InterlockEventsEncoder::end_command_buffer(CommandSink& /*sink*/) {
  current_.issued.emplace_back();
}

void InterlockEventsEncoder::wait_for(std::span<const Access> bytes, bool /*is_pending*/,
                                      CommandSink& sink) {
  take(uses_.needs_of_destroy(bytes), sink);
}

// Who waits cannot wait for the dispatches after it, which would say what it needs.
void InterlockEventsEncoder::wait_for_all(CommandSink& sink) {
  finish(sink);
  join_all();
  sink.issue_barrier(BarrierKind::kFull);
}

void InterlockEventsEncoder::join_all() { clocks_.apply({kEverything, kEverything}, count_); }

void InterlockEventsEncoder::finish(CommandSink& sink) {
  issue_before(sink);
  issue_epoch(before_, kNoSet, {}, sink);
  before_ = {};
}

void InterlockEventsEncoder::take(const BarrierNeeds& needs, CommandSink& sink) {
  if (needs.latest() >= current_.first) {
    issue_before(sink);
    owes_sync_ = true;
  }
  current_.needs |= needs;
}

void InterlockEventsEncoder::issue_before(CommandSink& sink) {
  if (owes_sync_) {
    const uint32_t last = current_.first - 1;
    const ScopePair scopes = fewest_scopes(clocks_, current_.needs, last);
    const uint32_t set_after = earliest_set(scopes);
    clocks_.apply(scopes, set_after);
    if (set_after == last) {
      issue_epoch(before_, kNoSet, scopes, sink);
      sink.issue_scoped_barrier(scopes.source, scopes.destination);
    } else {
      issue_epoch(before_, set_after, scopes, sink);
      sink.issue_await(event_count_++);
    }
  } else {
    issue_epoch(before_, kNoSet, {}, sink);
  }
  owes_sync_ = false;
  before_ = std::exchange(current_, {.first = count_ + 1});
}

void InterlockEventsEncoder::issue_epoch(const Epoch& epoch, uint32_t set_after,
                                         const ScopePair& scopes, CommandSink& sink) {
  uint32_t number = epoch.first;
  for (const DispatchId id : epoch.issued) {
    if (!id.is_some()) {
      sink.issue_split();
      continue;
    }
    sink.issue_dispatch(id);
    if (number++ == set_after) sink.issue_set(event_count_, scopes.source, scopes.destination);
  }
}

uint32_t InterlockEventsEncoder::earliest_set(const ScopePair& scopes) const {
  const auto suffices = [&](uint32_t set_after) {
    ScopeClocks after = clocks_;
    after.apply(scopes, set_after);
    return after.meet(current_.needs);
  };
  uint32_t low = before_.first;
  uint32_t high = current_.first - 1;
  INTERLOCK_CHECK(low <= high);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (suffices(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

}  // namespace interlock
