// The workloads by name. Two of them are the same models in longer runs.
#include <array>

#include "encoder/program/registry.h"
#include "fuzz/workloads/mlp.h"
#include "fuzz/workloads/transformer.h"
#include "fuzz/workloads/workload.h"

namespace interlock {

std::span<const WorkloadEntry> workload_registry() {
  static const auto entries = [] {
    WorkloadOptions plain;
    WorkloadOptions batches;
    batches.step_count = 3;
    WorkloadOptions micro_batches;
    micro_batches.micro_batch_count = 4;
    micro_batches.optimizer = "adamw";
    return std::array{
        WorkloadEntry{"mlp", "a training step of layers that share their weight", plain, &make_mlp},
        WorkloadEntry{"transformer", "a training step of attention blocks with low-rank factors",
                      plain, &make_transformer},
        WorkloadEntry{"training", "mlp: steps, with an arena reset between them", batches,
                      &make_mlp},
        WorkloadEntry{"micro-batches", "transformer: gradients accumulated over micro-batches",
                      micro_batches, &make_transformer},
    };
  }();
  return entries;
}

const WorkloadEntry* find_workload(std::string_view name) {
  return find_entry(workload_registry(), name);
}

}  // namespace interlock
