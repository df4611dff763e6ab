// Workloads: training steps as real systems issue them, at any depth, with no tensor placed. They
// feed planners, encoders and backward passes with programs of thousands of dispatches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "encoder/program/draft.h"
#include "encoder/program/result.h"

namespace interlock {

struct WorkloadOptions {
  uint64_t layer_count = 2;
  uint64_t step_count = 1;         // Batches; an arena is reset between them.
  uint64_t micro_batch_count = 1;  // Of each step: their gradients are added up.
  uint64_t rows = 4;               // Samples of a micro-batch; tokens.
  uint64_t cols = 8;               // The width of a layer; even.
  uint64_t vocabulary = 16;        // Rows of the embedding.
  uint64_t seed = 1;               // Of weights and inputs.
  bool repeats_batch = false;      // The same inputs in every micro-batch.
  // A step begins with gradients of zeros, to which every micro-batch adds, as with zero_grad().
  bool zeroes_gradients = false;
  // The output `losses`, f32[steps * micro-batches], has the sum of the loss of each micro-batch in
  // place of the losses themselves; `norms`, f32[steps], the sum of the squares of the gradients.
  bool collects_losses = false;
  bool collects_norms = false;
  // Of backward_registry(); empty: forward passes alone, whose outputs are the losses.
  std::string backward = "one-shot";
  std::string optimizer = "sgd";  // Or adamw.
  // Of all that one micro-batch up to its loss, and the statement `backward` in place of what the
  // pass appends: all micro-batches have these dispatches, under other names.
  bool is_batch_alone = false;
};

struct WorkloadEntry {
  std::string_view name;
  std::string_view summary;  // One line for `interlock generate --help`.
  WorkloadOptions defaults;
  Result<ProgramDraft> (*make)(const WorkloadOptions& options);
};

std::span<const WorkloadEntry> workload_registry();

// Returns null if there is none of this name.
// Defined in fuzz/workloads/registry.cc.
const WorkloadEntry* find_workload(std::string_view name);

// Bounds on untrusted options.
inline constexpr uint64_t kWorkloadLayersMax = 1000;
inline constexpr uint64_t kWorkloadBatchesMax = 1000;  // Steps times micro-batches.
inline constexpr uint64_t kWorkloadExtentMax = 4096;

}  // namespace interlock
