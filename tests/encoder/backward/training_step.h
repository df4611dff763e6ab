// A training step in text form, its tensors unplaced: the forward pass of residual layers, and a
// backward pass that reads what the forward pass saved.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/program/program.h"

namespace interlock {

struct TrainingStepOptions {
  uint64_t layer_count = 2;
  uint64_t batch_count = 1;  // Micro-batches, whose gradients are added up.
  uint64_t rows = 8;
  uint64_t cols = 16;
};

// Per layer and micro-batch: norm, product, activation, product and sum, and backward the products,
// sums and norms that give the gradients of input and weights. Weights are placed; outputs are the
// gradients.
Program training_step(const TrainingStepOptions& options);

}  // namespace interlock
