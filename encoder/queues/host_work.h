// HostWork: serial queues beside the host. Dispatches stay in the order of the text, among what the
// host reads and writes and statements about values; waits of queues and of the host order them.
#pragma once

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/queues/given_queues.h"
#include "encoder/sync/recording_sink.h"

namespace interlock {

// True iff the place of something but dispatches matters: the host does something, or values end,
// or, where the program says the queues, command buffers.
bool has_host_work(const Program& program);

// The same for an encoder that chooses the queues: but for command buffers.
bool has_host_work_of_no_queue(const Program& program);

// Whether the host accesses memory that is not unified: what a device wrote there has to be handed
// on to it.
bool host_has_copies(const Program& program);

// Nothing, if the program is what encode_beside_host() takes. Errors: a barrier does something to
// its operands; the host accesses memory that is not coherent; what is pinned is destroyed.
Result<Success> check_host_work(const Program& program);

// The same for an encoder that chooses the queues. Errors: as above, and a statement about a value
// names a queue.
Result<Success> check_host_work_of_no_queue(const Program& program);

// Which signals there are.
enum class SignalPlaces : uint8_t {
  kWhereAwaited,  // Those for which something waits.
  kEverywhere,    // After each dispatch.
};

// Returns `program` with its dispatches on `queues` and no other sync than this:
// - a wait before each dispatch for what it conflicts with on other queues, as QueueTracker says;
// - `host waits` before what the host reads or writes, for all dispatches that it conflicts with:
//   the queues are serial, so what a signal there covers has got to the host. What is submitted
//   after a statement of the host comes after it, and after what it has waited for;
// - the same before a `destroy`, in its queue or of the host, for all accesses of the bytes.
// What the program has otherwise of the host's sync, of submissions and barriers is left out; a
// `split` stays where its queue is one of these, and is left out elsewhere.
// Requires: check_host_work(); the queues are serial; statements about values that name a queue
// name one of these. Errors: a limit of programs. Cost: that of QueueTracker, and linear, times the
// queues for each statement of the host.
Result<Program> encode_beside_host(const Program& program, const QueuesOfDispatches& queues,
                                   SignalPlaces signals);

// What that program is made of. A stop leaves nothing. Of one graph queue: what the host waits for,
// which a signal of the graph covers with all before it; nothing is placed between its dispatches.
// Requires and cost: as above.
RecordingSink commands_beside_host(const Program& program, const QueuesOfDispatches& queues,
                                   SignalPlaces signals);

}  // namespace interlock
