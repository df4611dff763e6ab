// The split backward pass: the cotangents of inputs and activations first, those of weights later,
// as pipeline schedules do it to fill their bubbles.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/backward/backward_writer.h"

namespace interlock {

// What a split pass leaves for later, by value: the tensors to differentiate by that no dispatch on
// the way to the loss writes, and that some dispatch reads as another operand than its first. So
// the x of a layer is an input, and its matrix, scale or bias is a weight. Cost: linear.
std::vector<bool> weights_of(const BackwardGraph& graph);

// Those operands of node.inputs that read weights, or those that read none.
std::vector<int> weight_inputs_of(const BackwardNode& node, const std::vector<bool>& is_weight);
std::vector<int> other_inputs_of(const BackwardNode& node, const std::vector<bool>& is_weight);

// First all cotangents but those of weights, from the loss back; then, from the first dispatch on,
// those of weights, from the cotangents that the first half left.
void write_split(BackwardWriter& writer);

}  // namespace interlock
