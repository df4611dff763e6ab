// ForwardPass: what a model computes of one micro-batch, and the training run that is made of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/result.h"
#include "fuzz/workloads/workload.h"

namespace interlock {

class ForwardPass {
 public:
  using Attributes = std::vector<std::pair<std::string, std::string>>;

  explicit ForwardPass(uint64_t seed) : next_seed_(seed) {}

  // Each returns its name.
  // A weight: there from the start, in every batch the same. What is trained is also an output.
  std::string weight(const std::string& name, std::vector<uint64_t> shape, bool is_trained);
  // Data of one micro-batch; and `count` numbers below `bound`, i32.
  std::string input(const std::string& name, std::vector<uint64_t> shape);
  std::string ids(const std::string& name, uint64_t count, uint64_t bound);
  // What `kernel` makes of `reads`.
  std::string apply(const std::string& name, const std::string& kernel,
                    const std::vector<std::string>& reads, std::vector<uint64_t> shape,
                    Attributes attributes = {});
  // As above, but once, before the first batch: every batch reads it.
  std::string apply_once(const std::string& name, const std::string& kernel,
                         const std::vector<std::string>& reads, std::vector<uint64_t> shape,
                         Attributes attributes = {});
  // x w, scaled so that its elements are as large as those of x.
  // Requires: x [rows, inner], w [inner, cols], or [cols, inner] if transposed.
  std::string product(const std::string& name, const std::string& x, const std::string& w,
                      uint64_t rows, uint64_t inner, uint64_t cols, bool is_transposed = false);

  // Every batch ends with this value; its elements add up.
  void set_loss(std::string name) { loss_ = std::move(name); }

  // For each step and micro-batch this forward pass and its backward pass; after the last
  // micro-batch of a step the optimizer, between steps a reset of a memory without tensors.
  // Errors: no such backward pass or optimizer; those of the backward pass.
  // Defined in training_run.cc.
  Result<ProgramDraft> training_run(const WorkloadOptions& options) const;

 private:
  friend class TrainingRun;

  std::vector<TensorDraft> weights_;
  std::vector<std::string> trained_;  // Names.
  std::vector<TensorDraft> saved_;    // Of apply_once().
  std::vector<DispatchDraft> prologue_;
  std::vector<TensorDraft> values_;            // Inputs and activations.
  std::map<std::string, uint64_t> id_bounds_;  // Of ids().
  std::vector<DispatchDraft> dispatches_;
  std::string loss_;
  uint64_t next_seed_;
};

}  // namespace interlock
