#include "encoder/backward/split_backward.h"

#include <algorithm>
#include <iterator>

namespace interlock {
namespace {

std::vector<int> inputs_where(const BackwardNode& node, const std::vector<bool>& is_weight,
                              bool wanted) {
  std::vector<int> inputs;
  std::copy_if(node.inputs.begin(), node.inputs.end(), std::back_inserter(inputs), [&](int input) {
    return is_weight[node.values[static_cast<size_t>(input)]] == wanted;
  });
  return inputs;
}

}  // namespace

std::vector<bool> weights_of(const BackwardGraph& graph) {
  std::vector<bool> is_weight(graph.roots.size(), false);
  std::vector<bool> is_second(graph.roots.size(), false);
  for (const BackwardNode& node : graph.nodes) {
    for (const int input : node.inputs) {
      if (input > 0) is_second[node.values[static_cast<size_t>(input)]] = true;
    }
  }
  for (const uint32_t value : graph.wrt) is_weight[value] = is_second[value];
  for (const BackwardNode& node : graph.nodes) {
    for (const int output : node.outputs) {
      is_weight[node.values[static_cast<size_t>(output)]] = false;
    }
  }
  return is_weight;
}

std::vector<int> weight_inputs_of(const BackwardNode& node, const std::vector<bool>& is_weight) {
  return inputs_where(node, is_weight, true);
}

std::vector<int> other_inputs_of(const BackwardNode& node, const std::vector<bool>& is_weight) {
  return inputs_where(node, is_weight, false);
}

void write_split(BackwardWriter& writer) {
  const std::vector<BackwardNode>& nodes = writer.graph().nodes;
  const std::vector<bool> is_weight = weights_of(writer.graph());
  CotangentSet& result = writer.result();
  for (size_t i = nodes.size(); i-- > 0;) {
    const std::vector<int> inputs = other_inputs_of(nodes[i], is_weight);
    if (!inputs.empty()) writer.run(i, inputs, result, result);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<int> inputs = weight_inputs_of(nodes[i], is_weight);
    if (!inputs.empty()) writer.run(i, inputs, result, result);
  }
}

}  // namespace interlock
