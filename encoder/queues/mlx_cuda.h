// A model of MLX's CUDA encoder (ml-explore/mlx, mlx/backend/cuda/device.cpp): a CUDA graph whose
// edges come from a map of each buffer to the node that wrote it last. An input or an output found
// there is an edge from that node, which gives RAW and WAW. Nothing remembers who read, so WAR has
// no edge. Keys are whole buffers; updates and atomics are bound as outputs. The repaired one keeps
// the readers since the last write, too.
//
// commit() launches the graph on the stream and clears the map, as what comes later is a graph that
// the same stream launches after it: here where a command buffer ends, there after so many
// operations. Before the host accesses anything synchronize() commits and waits for the stream; and
// so it does here before a `destroy`, since a buffer is given back to CUDA once its graph is over.
// A `free` stands where it stood and orders nothing. A serial queue is the stream, and a launch a
// signal of the graph that it waits for; what it has waited for has got to the host, which in MLX
// accesses managed memory.
//
// Not modelled: concurrent contexts, which join through an empty node; the kernels that are patched
// by hand.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Errors: as check_count() (dispatch_conflicts.h) and check_host_work_of_no_queue() (host_work.h).
// Cost: O(a log a) in accesses, and the edges.
Result<Program> encode_mlx_cuda(const Program& program, uint32_t queue_count);
Result<Program> encode_mlx_cuda_readers(const Program& program, uint32_t queue_count);

}  // namespace interlock
