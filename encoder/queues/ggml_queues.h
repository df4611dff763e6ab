// Models of how ggml's backends use several queues (ggml-org/llama.cpp).
//
// CUDA, ggml_cuda_concurrent_event in ggml/src/ggml-cuda/ggml-cuda.cu: after a node on the main
// stream, branches that do not depend on each other run on streams of their own. Each waits for the
// event recorded at the fork; the node that joins waits for the event at the end of each branch.
// The broken one misses that of the last branch; a join that is missing is what
// ooples/AiDotNet.Tensors#705 has. A dispatch goes to the branch that it conflicts with, else to a
// new one while there are streams; one that conflicts with two branches joins them all, and forks
// again. Not modelled: which nodes llama.cpp's graphs fork at.
//
// Vulkan, ggml/src/ggml-vulkan/ggml-vulkan.cpp: uploads run on a transfer queue, all else on a
// compute queue. ggml-org/llama.cpp#25229: ggml_backend_vk_event_wait() has the compute queue wait,
// and not the transfer queue, so that an upload overwrites what is still read. Uploads are
// here the kernels `copy` and `fill`. Not modelled: asynchronous readbacks, several devices.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// `queue_count` streams with the main one, at least two; 0: four. Errors: as
// QueueEncoderEntry::encode. Cost: pairs of operands between two joins, and linear.
Result<Program> encode_ggml_cuda_lost_join(const Program& program, uint32_t queue_count);
Result<Program> encode_ggml_cuda_fork_join(const Program& program, uint32_t queue_count);

// Errors: likewise. Cost: that of OrderReduction, and linear.
Result<Program> encode_ggml_vulkan_25229(const Program& program, uint32_t queue_count);
Result<Program> encode_ggml_vulkan_queues(const Program& program, uint32_t queue_count);

}  // namespace interlock
