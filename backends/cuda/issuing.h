// Issues lowered programs to the device: to one stream, to several, or into a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cuda/device.h"
#include "backends/cuda/dispatch_graph.h"
#include "backends/cuda/lowering.h"
#include "backends/cuda/stream_plan.h"

namespace interlock {

// What all ways of issuing share.
struct Issuing {
  CudaDevice& device;
  const LoweredProgram& lowered;
  uint8_t* base = nullptr;  // Of the allocation.
  uint64_t seed = 0;
  uint64_t delay_ns = 0;  // Of every second dispatch, as the seed chooses; 0: of none.
};

// All commands, each behind the one before it, on the first stream.
Result<Success> issue_list(const Issuing& issuing);

// The plan, between what is on the first stream and what comes next there. `is_captured`: the
// first stream captures.
Result<Success> issue_streams(const Issuing& issuing, const StreamPlan& plan, bool is_captured);

// Adds the launches to `graph`, which is empty.
Result<Success> add_to_graph(const Issuing& issuing, const DispatchGraph& order,
                             CudaGraphSource graph);

}  // namespace interlock
