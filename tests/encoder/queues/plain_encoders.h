// Our encoders for several queues as they follow from their definitions: sets, a row of all pairs
// for each operation, and programs by way of drafts.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/queues/order_reduction.h"

namespace interlock {

// The transitive reduction. Cost: n / 64 steps for each pair that stays, from all n operations on.
PredecessorLists plain_reduction(const PredecessorLists& predecessors);

// Of each pair of dispatches that conflict by some byte, those through a third left out.
PredecessorLists plain_conflicts(const Program& program);

// As encode_edges() and, on a program without queues, encode_semaphores(). Requires: they have no
// error.
Program plain_edges(const Program& program);
Program plain_semaphores(const Program& program, uint32_t queue_count);

}  // namespace interlock
