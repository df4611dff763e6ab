// A pool for several queues, as PyTorch's caching allocator has it
// (c10/cuda/CUDACachingAllocator.cpp): each stream has free blocks of its own. A value comes from
// those of the queue that first uses it, and goes back to them after its last use. Work that comes
// later on that queue may take its bytes, as it comes after in stream order. Uses on other queues
// PyTorch is told of by record_stream(): an event is recorded there when the value is freed, and
// the block waits for it. Here it is free for whatever the sync of the program orders after all
// those uses. The broken twin is told of no other queue.
//
// Not modelled: when the host polls the events, which can find a block free that no sync says is;
// splitting thresholds, size classes, garbage collection; where a free stands: a block is free once
// its uses are over.
//
// CUDA's own pools (cudaMallocAsync) are of a device: a block that is freed in one stream is handed
// on to another where an event orders the two (cudaMemPoolReuseFollowEventDependencies, CUDA
// Runtime API, "Memory Pools"). What the driver finds out by itself, and dependencies that it adds
// (the two other policies), no program says.
#pragma once

#include "encoder/plan/planner.h"

namespace interlock {

// Of a program of one queue the sync comes later: there the pool is best fit by lives. Errors: as
// PlanFunction, and more dispatches than a SyncOrder takes.
Result<Program> plan_stream_pool(const Program& program, const PlanOptions& options);
Result<Program> plan_async_pool(const Program& program, const PlanOptions& options);
Result<Program> plan_stream_pool_unrecorded(const Program& program, const PlanOptions& options);

}  // namespace interlock
