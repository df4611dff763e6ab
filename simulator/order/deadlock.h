// Deadlock: who waits for whom where nothing can run any more.
#pragma once

#include <span>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// One step of a circle of waits. It is the first of its queue, or of the host, that has not run.
struct BlockedStatement {
  StatementId statement;
  // What has to run before: of the queue, or of the host, that the next one in the circle holds.
  StatementId waits_for;
  // `statement` is a wait of its own; else it is only not submitted, as the host is held.
  bool is_a_wait = false;

  bool operator==(const BlockedStatement&) const = default;
};

// Returns a shortest circle, beginning with the statement that stands first in the text; of those
// that are as short, the one whose first statement stands first.
// Requires: `done` are all statements that can run, in the order of a run, and not all of them.
// Cost: linear, and the queues times the waits among their first statements.
std::vector<BlockedStatement> find_deadlock(const Program& program,
                                            std::span<const StatementId> done);

}  // namespace interlock
