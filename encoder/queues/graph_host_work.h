// GraphHostWork: a graph queue beside the host.
#pragma once

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Returns `program` with its dispatches on one graph queue, in the order of the text among what the
// host reads and writes and statements about values, and no other sync than this:
// - before what the host does, a wait for all of the graph up to the last dispatch that it
//   conflicts with, as a signal of a graph covers all before it in the text. If the host accesses
//   memory that is not unified, each wait goes by way of a serial queue: a signal of the graph
//   makes nothing visible to the host, and what a serial queue has waited for is, after it;
// - the fewest edges that order the conflicts which that leaves. What is submitted after a
//   statement of the host comes after it and after what it has waited for, so needs no edge.
// The host waits for dispatches that it has no conflict with, too: a graph has nothing smaller.
// Requires: check_host_work_of_no_queue() (host_work.h); at most OrderReduction::kCountMax
// dispatches. Errors: a limit of programs. Cost: as OrderReduction and QueueTracker.
Result<Program> encode_graph_beside_host(const Program& program);

}  // namespace interlock
