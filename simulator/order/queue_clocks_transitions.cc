// Of QueueClocks, what barriers do to their operands: each is an operation between the two scopes
// of its dependency, and comes after the earlier ones of its queue.
#include <span>

#include "simulator/order/queue_clocks.h"

namespace interlock {

// What a dependency does to its operands comes after its first scope, and not after those of the
// other dependencies of its command: each finds its row when it comes.
void QueueClocks::await_transitions(const Barrier& barrier, QueueIndex queue) {
  for (uint32_t k = 0; k < barrier.dependency_count; ++k) {
    const uint32_t index = barrier.first_dependency + k;
    const std::span<const Dependency> one = std::span(program_.dependencies).subspan(index, 1);
    if (one[0].transition == TransitionKind::kNone) continue;
    const auto ends = dependency_ends_of(program_, BarrierKind::kScoped, one, tracked_);
    before_transitions_.insert_or_assign(index, gather(queue, ends[0]));
  }
}

void QueueClocks::arrive_at_transition(const Dispatch& dispatch, QueueIndex queue) {
  const auto found = before_transitions_.find(dispatch.transition);
  if (found == before_transitions_.end()) return;  // Its barrier stands before the walk.
  deliver(found->second, queue, {bit_of(Stage::kTransition), 0});
  before_transitions_.erase(found);
}

// It comes before the second scope, and before later transitions of its queue: these need nothing
// between them (7.1.1).
void QueueClocks::end_transition(const Dispatch& dispatch, QueueIndex queue) {
  const std::span<const Dependency> one =
      std::span(program_.dependencies).subspan(dispatch.transition, 1);
  DependencyEnds ends = dependency_ends_of(program_, BarrierKind::kScoped, one, tracked_).front();
  ends.source = {bit_of(Stage::kTransition), 0, true};
  const Row row = gather(queue, ends);
  deliver(row, queue, ends.destination);
  deliver(row, queue, {bit_of(Stage::kTransition), 0});
  if (is_transition_at(size_t{next_} + 1) || after_transitions_.empty()) return;
  deliver(after_transitions_, queue, {bit_of(Stage::kTransition), 0});
  after_transitions_.clear();
}

}  // namespace interlock
