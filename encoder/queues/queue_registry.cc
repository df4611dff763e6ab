// The encoders for several queues by name: ours first, then the models.

#include <array>

#include "encoder/program/registry.h"
#include "encoder/queues/events_encoder.h"
#include "encoder/queues/ggml_queues.h"
#include "encoder/queues/minimal_encoders.h"
#include "encoder/queues/mlx_cuda.h"
#include "encoder/queues/mlx_fences.h"
#include "encoder/queues/pytorch_streams.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/queues/streams_encoder.h"

namespace interlock {
namespace {

constexpr std::array kQueueEncoders = {
    QueueEncoderEntry{"semaphores",
                      "ours: serial queues, the fewest waits that add no order to theirs", false,
                      true, &encode_semaphores, false, true, true},
    QueueEncoderEntry{"edges", "ours: a graph queue, the fewest edges that add no order", false,
                      false, &encode_edges, false, true},
    QueueEncoderEntry{"streams",
                      "ours: serial queues, the same waits, placed as the dispatches come", false,
                      true, &encode_streams, false, true, true},
    QueueEncoderEntry{"events",
                      "ours: one queue, scoped barriers, and events where work stands between",
                      false, false, &encode_events, false, false, false, true, true},
    QueueEncoderEntry{"pytorch-no-record",
                      "PyTorch's allocator with streams, blocks reused without record_stream", true,
                      true, &encode_pytorch_unrecorded},
    QueueEncoderEntry{"pytorch-record-stream", "the same, with record_stream for each use", false,
                      true, &encode_pytorch_recorded},
    QueueEncoderEntry{"ggml-cuda-lost-join",
                      "ggml's forks of CUDA streams, without the join of the last branch", true,
                      true, &encode_ggml_cuda_lost_join},
    QueueEncoderEntry{"ggml-cuda-21897",
                      "the same by values: branches share reused bytes (llama.cpp#21897)", true,
                      true, &encode_ggml_cuda_21897},
    QueueEncoderEntry{"ggml-cuda-fork-join", "the same by bytes, with all joins", false, true,
                      &encode_ggml_cuda_fork_join},
    QueueEncoderEntry{"mlx-cuda", "MLX's CUDA graphs: edges from last writers, misses WAR", true,
                      false, &encode_mlx_cuda, true},
    QueueEncoderEntry{"mlx-cuda-readers", "the same, with edges from readers", false, false,
                      &encode_mlx_cuda_readers, true},
    QueueEncoderEntry{"mlx-fences-4099",
                      "MLX's fences between Metal encoders; a donated temporary has none (#4099)",
                      true, false, &encode_mlx_fences_4099, true},
    QueueEncoderEntry{"mlx-fences-2026", "the same since #4099: fences know writers, misses WAR",
                      true, false, &encode_mlx_fences_2026, true},
    QueueEncoderEntry{"mlx-fences", "the same, with fences of readers", false, false,
                      &encode_mlx_fences, true},
    QueueEncoderEntry{"ggml-vulkan-25229",
                      "ggml's transfer queue on Vulkan, which does not wait (llama.cpp#25229)",
                      true, false, &encode_ggml_vulkan_25229},
    QueueEncoderEntry{"ggml-vulkan-queues", "the same, where it waits", false, false,
                      &encode_ggml_vulkan_queues},
};

}  // namespace

std::span<const QueueEncoderEntry> queue_encoder_registry() { return kQueueEncoders; }

const QueueEncoderEntry* find_queue_encoder(std::string_view name) {
  return find_entry(queue_encoder_registry(), name);
}

}  // namespace interlock
