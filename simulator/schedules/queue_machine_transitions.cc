// Of QueueMachine, what barriers do to their operands: a gate before each such operation, which
// waits for the first scope of its dependency, and one after it, which holds back the second.
#include "encoder/program/check.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {

// Held by the first scope of its dependency, and by the transitions of its queue before it; what
// stands in the second scope is held by it.
void QueueMachine::take_transition(QueueIndex queue, StatementId id, DispatchId dispatch) {
  const Dependency& dependency = program_.dependencies[program_.dispatch(dispatch).transition];
  const Ticket first = first_parts_[dispatch.index];
  const Ticket end = first_parts_[dispatch.index + 1];
  const auto own_gate = transition_gates_.find(program_.dispatch(dispatch).transition);
  INTERLOCK_CHECK(own_gate != transition_gates_.end());
  for (Ticket part = first; part < end; ++part) {
    if (things_[part].part.role == PartRole::kCommit) continue;
    hold(part, own_gate->second);
    for (const Ticket earlier : queues_[queue].parts.tickets) {
      if (things_[earlier].part.stage == Stage::kTransition) hold(part, earlier);
    }
    step_count_ += queues_[queue].parts.tickets.size();
  }
  transition_gates_.erase(own_gate);
  take_dispatch(queue, dispatch);
  const Ticket after =
      add_gate(queue, id,
               {as_destination(dependency.destination.stages), dependency.destination.accesses,
                program_.operands_of(dependency)});
  name_gate(after, {id, 0});
  for (Ticket part = first; part < end; ++part) hold(after, part);
  stand(queue, after);
  release(after);
}

// What a transition waits for holds nothing else.
void QueueMachine::take_transition_gates(QueueIndex queue, StatementId id, const Barrier& barrier) {
  for (uint32_t k = 0; k < barrier.dependency_count; ++k) {
    const uint32_t index = barrier.first_dependency + k;
    const Dependency& dependency = program_.dependencies[index];
    if (dependency.transition == TransitionKind::kNone) continue;
    const Ticket gate = add_gate(queue, id, {bit_of(Stage::kTransition), 0});
    const Scope& source = dependency.source;
    hold_by_source(gate,
                   {as_source(source.stages), source.accesses, program_.operands_of(dependency)});
    transition_gates_.insert_or_assign(index, gate);
    release(gate);
  }
}

}  // namespace interlock
