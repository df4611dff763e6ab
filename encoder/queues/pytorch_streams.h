// A model of PyTorch's caching allocator with several streams (c10/cuda/CUDACachingAllocator.cpp):
// each stream has a pool of blocks. A block that the host frees returns to the pool of the stream
// that allocated it, and the next tensor there takes it at once. Work of that stream comes before
// in stream order; work that another stream still does with the block comes before only if the
// tensor was told of it, by Tensor.record_stream(). Without that: pytorch/pytorch#180665,
// meta-pytorch/torchrec#4231.
//
// Each memory is of the pool of one stream. A dispatch that writes a value for the first time runs
// on the stream of its memory, as that is where it is allocated; the others take turns. Between
// dispatches on one value the user waits as it should be; raw ranges of a memory are one value.
//
// Memory that the host accesses is pinned, and of another allocator (CachingHostAllocator.h in
// aten/src/ATen/core): each copy records an event for the stream that it is on, and a block is not
// handed out again before these are over, whoever wrote record_stream() or did not. So its reuse is
// ordered in both, and the host waits for the dispatches that it conflicts with, as a user does for
// the event after a copy. `free` stands where the host frees, which orders nothing; a `destroy` is
// what empty_cache() does: cudaFree() waits for all streams. Streams have no command buffers.
//
// Not modelled: garbage collection, other streams than the default one as owner, kernels that
// access pinned memory without a copy, of which no event is recorded.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// On `queue_count` streams; 0: three. Errors: as check_count() (dispatch_conflicts.h) and
// check_host_work_of_no_queue() (host_work.h). Cost: the pairs of
// operands, and that of OrderReduction.
Result<Program> encode_pytorch_unrecorded(const Program& program, uint32_t queue_count);
Result<Program> encode_pytorch_recorded(const Program& program, uint32_t queue_count);

}  // namespace interlock
