// Our encoders for several queues as they follow from their definitions: sets, a row of all pairs
// for each operation, and programs by way of drafts.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/queues/order_reduction.h"
#include "encoder/queues/path_cover.h"
#include "encoder/queues/queue_program.h"

namespace interlock {

// The transitive reduction. Cost: n / 64 steps for each pair that stays, from all n operations on.
PredecessorLists plain_reduction(const PredecessorLists& predecessors);

// Of each pair of dispatches that conflict by some byte, those through a third left out.
PredecessorLists plain_conflicts(const Program& program);

// As cover_by_paths(): the phases of Hopcroft and Karp, each over all operations and all edges.
PathCover plain_cover(const OrderReduction& order);

// As waits_of(), from the reduction of `pairs` and of the order of each queue.
PredecessorLists plain_waits(const QueuePlan& plan, const PredecessorLists& pairs);

// As encode_edges() and, on a program without queues, encode_semaphores(). Requires: they have no
// error.
Program plain_edges(const Program& program);
Program plain_semaphores(const Program& program, uint32_t queue_count);

}  // namespace interlock
