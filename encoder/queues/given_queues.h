// given_queues: the queues that a program says its dispatches are on.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

struct QueuesOfDispatches {
  std::vector<QueueDraft> queues;
  std::vector<uint32_t> queue_of;  // By dispatch: into `queues`; of the host UINT32_MAX.
};

// Whether the program says queues at all, beside the default one.
bool has_given_queues(const Program& program);

// Returns the queues that dispatches, and statements about values, are on, as they come. Errors:
// one of them is not `serial`; `queue_count` is not 0, that is, some are asked for beside those.
// Requires: has_given_queues().
Result<QueuesOfDispatches> given_queues(const Program& program, uint32_t queue_count);

}  // namespace interlock
