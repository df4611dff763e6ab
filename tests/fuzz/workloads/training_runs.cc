#include "tests/fuzz/workloads/training_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/plan/planner.h"
#include "encoder/sync/encoder.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

WorkloadOptions lora_run(uint64_t layer_count, uint64_t step_count) {
  WorkloadOptions options = find_workload("transformer")->defaults;
  options.layer_count = layer_count;
  options.cols = 16;
  options.step_count = step_count;
  options.optimizer = "adamw";
  options.backward = "one-shot-stream";
  options.repeats_batch = true;
  options.collects_losses = true;
  return options;
}

WorkloadOptions arena_run(uint64_t step_count) {
  WorkloadOptions options = find_workload("training")->defaults;
  options.step_count = step_count;
  options.zeroes_gradients = true;
  options.collects_norms = true;
  return options;
}

Program planned_run(std::string_view workload, const WorkloadOptions& options,
                    std::string_view planner, Pinned pinned) {
  Result<ProgramDraft> draft = find_workload(workload)->make(options);
  INTERLOCK_CHECK(draft.has_value());
  if (pinned == Pinned::kEveryNode) {
    // A program without outputs keeps every value to the end.
    auto& items = draft->items;
    items.erase(std::remove_if(items.begin(), items.end(),
                               [](const ItemDraft& item) {
                                 return std::holds_alternative<OutputDraft>(item);
                               }),
                items.end());
  }
  const Result<Program> program = build(*draft);
  INTERLOCK_CHECK(program.has_value());
  const Result<Program> planned = find_planner(planner)->plan(*program, {});
  INTERLOCK_CHECK(planned.has_value());
  return encode(*planned, *find_encoder("interlock")->create());
}

std::vector<float> values_after(const Program& program, Backend& backend, std::string_view tensor) {
  const auto image =
      backend.run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  if (!image) {
    ADD_FAILURE() << image.error().message;
    return {};
  }
  for (const Tensor& candidate : program.tensors) {
    if (program.name(candidate.name) != tensor) continue;
    std::vector<float> values(candidate.range.size_bytes() / sizeof(float));
    std::memcpy(values.data(),
                image->memories[candidate.memory.index].data() + candidate.range.begin,
                values.size() * sizeof(float));
    return values;
  }
  ADD_FAILURE() << "no tensor " << tensor;
  return {};
}

}  // namespace interlock
