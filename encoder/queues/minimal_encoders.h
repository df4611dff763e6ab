// Ours: the fewest edges, and the fewest waits, that add no order to what the dispatches conflict
// for. docs/theory.md, "Sync that adds no order", has the proofs.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// One graph queue; its edges are the transitive reduction of the conflicts. Drops what queues the
// program has. Errors: as QueueEncoderEntry::encode. Cost: that of OrderReduction, and linear.
Result<Program> encode_edges(const Program& program, uint32_t queue_count);

// Serial queues. With `queue_count` 0 and a program that has queues, each dispatch stays on its
// own; else assign_queues() says which. A wait stands for each edge between queues of the
// transitive reduction of conflicts and queue orders. Beside the host, the ends of values and
// command buffers (host_work.h) dispatches are issued in the order of the text, whatever order
// assign_queues() would. Errors: as above, or as check_host_work(); with `queue_count` 0 a dispatch
// is on a queue that is not `serial`, with another one the program has queues. Cost: that of
// assign_queues() and OrderReduction, and linear.
Result<Program> encode_semaphores(const Program& program, uint32_t queue_count);

}  // namespace interlock
