// HazardEnd: one of the two accesses of a hazard, with what explanations and repairs ask of it.
#pragma once

#include <string>
#include <string_view>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/facts/fact.h"

namespace interlock {

struct HazardEnd {
  // Requires: `program` outlives this.
  HazardEnd(const Program& program, AccessRef ref)
      : id(ref.dispatch),
        dispatch(program.dispatch(ref.dispatch)),
        access(program.accesses_of(ref.dispatch)[ref.access]),
        queue(program.queue_of(dispatch)),
        stage(stage_of(dispatch, access)),
        name(program.description_of(ref.dispatch)) {}

  // As seen from `other`: what a replay launches is of the queue that launches it, unless the other
  // one is launched there, too.
  HazardEnd(const Program& program, AccessRef ref, AccessRef other) : HazardEnd(program, ref) {
    const bool is_beside = program.queue_of(program.dispatch(other.dispatch)) == queue;
    if (!is_beside) queue = program.launching_queue_of(queue);
  }

  bool is_of_host() const { return queue == kNoQueue; }
  // What a barrier does to its operands.
  bool is_transition() const { return dispatch.is_transition(); }

  // Of a transition: its barrier, which stands before it and the others of that barrier.
  StatementId barrier(const Program& program) const {
    uint32_t at = dispatch.statement.index;
    while (program.statements[at].kind != StatementKind::kBarrier) --at;
    return StatementId(size_t{at});
  }

  DispatchId id;
  const Dispatch& dispatch;
  const Access& access;
  QueueIndex queue;
  Stage stage;
  std::string name;
};

// Before which a barrier has to stand for the host to see what it makes visible.
std::string_view what_host_waits_for(bool waits_for_idle);

// The least that the source of a scoped barrier, and its destination, name to separate the ends of
// a hazard of this kind. Requires: `end` is its first, or its second one.
Scope source_scope_of(const HazardEnd& end, FindingKind kind);
Scope destination_scope_of(const HazardEnd& end, FindingKind kind);

}  // namespace interlock
