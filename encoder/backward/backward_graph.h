// The part of a program that lies between the tensors to differentiate by and the loss, as values:
// backward_values.h numbers them.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/backward/backward.h"
#include "encoder/backward/vjp_rules.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// A dispatch through which the gradient flows.
struct BackwardNode {
  DispatchId dispatch;
  const VjpRule* rule = nullptr;
  std::vector<uint32_t> values;  // By operand: the value that it reads or writes.
  std::vector<int> inputs;       // The operands whose cotangents are wanted, ascending.
  std::vector<int> outputs;      // The operands that it writes, ascending.
};

struct BackwardGraph {
  std::vector<TensorId> roots;        // By value: the tensor that held it first.
  std::vector<BackwardNode> nodes;    // In program order.
  TensorId loss_tensor;               // As it was asked for: may be a view.
  uint32_t loss = 0;                  // Its value.
  std::vector<TensorId> wrt_tensors;  // As they were asked for.
  std::vector<uint32_t> wrt;          // Their values, where the program ends.
};

// Errors: as write_backward(), the mode apart. Cost: near linear in the program.
Result<BackwardGraph> backward_graph(const Program& program, const BackwardDraft& request);

}  // namespace interlock
