// A model of MLX's CUDA encoder (ml-explore/mlx, mlx/backend/cuda/device.cpp): a CUDA graph whose
// edges come from a map of each buffer to the node that wrote it last. An input or an output found
// there is an edge from that node, which gives RAW and WAW. Nothing remembers who read, so WAR has
// no edge. Keys are whole buffers; updates and atomics are bound as outputs. The repaired one keeps
// the readers since the last write, too. Not modelled: commits, which clear the map; concurrent
// contexts, which join through an empty node; the kernels that are patched by hand.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Errors: as QueueEncoderEntry::encode. Cost: O(a log a) in accesses, and the edges.
Result<Program> encode_mlx_cuda(const Program& program, uint32_t queue_count);
Result<Program> encode_mlx_cuda_readers(const Program& program, uint32_t queue_count);

}  // namespace interlock
