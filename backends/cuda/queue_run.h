// Overlap mode of programs with several queues, and with the host: issues QueueStreams.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "backends/cuda/device.h"
#include "backends/interface/image.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// `seed` chooses among the orders that the program allows (issue_order.h; 0: reference order), and
// between the streams of a concurrent queue, of which there are `lane_count`. Where the host reads
// or writes, the memory of the run is the host's, and shared. Requires: `program` is in reference
// order. Errors: as CUDA's; the device wrote outside of memories.
Result<MemoryImage> run_on_queue_streams(CudaDevice& device, const Program& program,
                                         const MemoryImage& image, uint32_t lane_count,
                                         uint64_t seed);

}  // namespace interlock
