// Training runs as a planner places them, and what their steps leave.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/interface/backend.h"
#include "encoder/program/program.h"
#include "fuzz/workloads/workload.h"

namespace interlock {

// The transformer of docs/bugs.md, whose backward pass streams; it collects its losses.
WorkloadOptions lora_run(uint64_t layer_count, uint64_t step_count);

// The residual layers of docs/bugs.md, between whose steps an arena is reset; it collects norms.
WorkloadOptions arena_run(uint64_t step_count);

enum class Pinned : uint8_t { kOutputs, kEveryNode };

// The workload with the planner's places and the sync of the encoder `interlock`.
Program planned_run(std::string_view workload, const WorkloadOptions& options,
                    std::string_view planner, Pinned pinned = Pinned::kOutputs);

// The elements of a tensor after the program has run in issue order.
std::vector<float> values_after(const Program& program, Backend& backend, std::string_view tensor);

}  // namespace interlock
