// QueueProgram: the dispatches of a program on queues, with the sync that an encoder chose, as a
// program again.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/order_reduction.h"

namespace interlock {

// What an encoder for several queues decides.
struct QueuePlan {
  std::vector<QueueDraft> queues;
  std::vector<uint32_t> queue_of;  // By dispatch: into `queues`.
  std::vector<uint32_t> issued;    // The dispatches in the order of the text.
  // By dispatch: those that a wait or an edge right before it is for. They are issued before it.
  Predecessors after;
};

// Queues of the kind, named like q1, q2, ….
std::vector<QueueDraft> numbered_queues(QueueKind kind, uint32_t count);

// Returns `program` with the sync of `plan` and no other: for each entry of `after` a wait right
// before the dispatch and, right after the other, a signal that all waits for it share. Each queue
// has one semaphore, whose values count its signals. Dispatches that are issued in another order
// state `order=`. The witness and the expectations spoke of other sync and are dropped, as are
// captures and replays, whose statements are spelled out.
// Requires: check_is_dispatches(); entries of `after` are of other queues. Errors: a limit of
// programs. Cost: O(n log n) for n statements.
Result<Program> with_semaphores(const Program& program, const QueuePlan& plan);

// As above, with `after` as edges. Requires: the queues are graph queues.
Result<Program> with_edges(const Program& program, const QueuePlan& plan);

}  // namespace interlock
