// The workloads by name. Two of them are the same models in longer runs.
#include "encoder/program/registry.h"
#include "fuzz/workloads/models.h"
#include "fuzz/workloads/workload.h"

namespace interlock {

std::span<const WorkloadEntry> workload_registry() {
  static const WorkloadEntry entries[] = {
      {"mlp", "a training step of layers that share their weight", {}, make_mlp},
      {"transformer",
       "a training step of attention blocks with low-rank factors",
       {},
       make_transformer},
      {"training", "mlp: steps, with an arena reset between them", {.step_count = 3}, make_mlp},
      {"micro-batches",
       "transformer: gradients accumulated over micro-batches",
       {.micro_batch_count = 4, .optimizer = "adamw"},
       make_transformer},
  };
  return entries;
}

const WorkloadEntry* find_workload(std::string_view name) {
  return find_entry(workload_registry(), name);
}

}  // namespace interlock
