// Submissions: when the host hands the statements of queues over.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// True iff the host carries it out: what it reads and writes, its waits, signals and the like,
// `submit`, and lifetime statements that name no queue.
bool is_of_host(const Program& program, const Statement& statement);

// Of a statement of a queue: true iff the queue does something for it. Command buffers and values
// end without: a serial queue has no barrier there, and nobody joins it (kinds of queue:
// sync_step.h).
bool runs_on_its_queue(const Program& program, const Statement& statement);

// Returns, by statement, how many host statements stand in the text before the point at which it is
// submitted, that is, at the next `submit` of its queue, which then counts too, or at once if none
// follows; of host statements, how many stand before. What is submitted at one point runs after all
// these (Vulkan 1.3, 7.9, "Host Write Ordering Guarantees"). Cost: linear.
std::vector<uint32_t> host_counts_at_submission(const Program& program);

}  // namespace interlock
