// Models of how ggml's backends use several queues (ggml-org/llama.cpp).
//
// CUDA, ggml_cuda_concurrent_event in ggml/src/ggml-cuda/ggml-cuda.cu: after a node on the main
// stream, branches that do not depend on each other run on streams of their own. Each waits for the
// event recorded at the fork; the node that joins waits for the event at the end of each branch.
// A planted fault misses that of the last branch; a join that is missing is what
// ooples/AiDotNet.Tensors#705 has. A fault of llama.cpp is #21897: branches are known by the values
// that they take, and the allocator reuses bytes as if nodes ran one after another, so that one
// branch overwrites what another reads or writes (of two writers that was seen, and the events of
// such a region stayed until #18496). A dispatch goes to the branch that it conflicts with, else to
// a new one while there are streams; one that conflicts with two branches joins them all, and forks
// again. The host acts between graphs, after ggml_backend_cuda_synchronize(): that waits for the
// main stream, which has joined the branches (here the host waits for what is joined, which is the
// same order; with the planted fault not for the last branch), and what comes next is a graph of
// its own. Not modelled: which nodes llama.cpp's graphs fork at.
//
// Vulkan, ggml/src/ggml-vulkan/ggml-vulkan.cpp: uploads run on a transfer queue, all else on a
// compute queue. ggml-org/llama.cpp#25229: ggml_backend_vk_event_wait() has the compute queue wait,
// and not the transfer queue, so that an upload overwrites what is still read. Uploads are
// here the kernels `copy` and `fill`. Before the host accesses anything, and before a buffer is
// destroyed, ggml_vk_synchronize() waits for the fence of a submission on the compute queue that
// waits for the transfer queue: for both, in the broken one, too. Its staging memory is coherent.
// Not modelled: asynchronous readbacks, several devices.
//
// In both a `free` stands where it stood and orders nothing: ggml plans its buffers before it
// records. A `destroy` is cudaFree(), which waits for all streams, or vkDestroyBuffer() after a
// synchronization. Neither has command buffers that somebody else ends.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// `queue_count` streams with the main one, at least two; 0: four. Errors: as check_count()
// (dispatch_conflicts.h) and check_host_work_of_no_queue() (host_work.h). Cost: pairs of operands
// between two joins, and linear.
Result<Program> encode_ggml_cuda_lost_join(const Program& program, uint32_t queue_count);
Result<Program> encode_ggml_cuda_21897(const Program& program, uint32_t queue_count);
Result<Program> encode_ggml_cuda_fork_join(const Program& program, uint32_t queue_count);

// Errors: likewise. Cost: that of OrderReduction, and linear.
Result<Program> encode_ggml_vulkan_25229(const Program& program, uint32_t queue_count);
Result<Program> encode_ggml_vulkan_queues(const Program& program, uint32_t queue_count);

}  // namespace interlock
