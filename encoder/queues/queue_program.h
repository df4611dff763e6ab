// QueueProgram: the dispatches of a program on queues, with the sync that an encoder chose, as a
// program again.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/order_reduction.h"
#include "encoder/sync/encoder.h"

namespace interlock {

// What an encoder for several queues decides.
struct QueuePlan {
  std::vector<QueueDraft> queues;
  std::vector<uint32_t> queue_of;  // By dispatch: into `queues`; of the host kOfHost.
  std::vector<uint32_t> issued;    // The dispatches in the order of the text.
  // By dispatch: those that a wait or an edge right before it is for, of queues. They are issued
  // before it.
  Predecessors after;
  // By statement about a value: those that a wait of the host right before it is for. Empty: none.
  PredecessorLists before_ends = {};

  static constexpr uint32_t kOfHost = UINT32_MAX;
};

// Issues the dispatches and, for each entry of `after`, a wait right before the dispatch and, right
// after the other, a signal that all waits for it share. Each queue has one semaphore, of its
// number, whose values count its signals. Requires: entries of `after` are of other queues; nothing
// is of the host.
void issue_with_semaphores(const QueuePlan& plan, CommandSink& sink);

// The same of the dispatches of `program` in the order of its text, among what the host accesses
// and statements about values, before which the host waits; not for what it has waited for before.
void issue_beside_host(const Program& program, const QueuePlan& plan, CommandSink& sink);

// As above, with `after` as edges. Requires: the queues are graph queues.
void issue_with_edges(const QueuePlan& plan, CommandSink& sink);

// Returns `program` as it is issued so, beside the host if has_host_work_of_no_queue()
// (host_work.h). Errors and cost: as program_on_queues(). Requires: check_count()
// (dispatch_conflicts.h) and, beside the host, check_host_work_of_no_queue().
Result<Program> with_semaphores(const Program& program, const QueuePlan& plan);

Result<Program> with_edges(const Program& program, const QueuePlan& plan);

}  // namespace interlock
