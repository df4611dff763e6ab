#include "encoder/backward/split_backward.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "encoder/backward/backward_values.h"

namespace interlock {
namespace {

// What a split pass leaves for later, by value: the tensors to differentiate by that no dispatch on
// the way to the loss writes, and that some dispatch reads as another operand than its first. So
// the x of a layer is an input, and its matrix, scale or bias is a weight. Cost: linear.
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

// Those operands of node.inputs that read weights, or those that read none.
std::vector<int> inputs_where(const BackwardNode& node, const std::vector<bool>& is_weight,
                              bool wanted) {
  std::vector<int> inputs = node.inputs;
  std::erase_if(inputs, [&](int input) {
    return is_weight[node.values[static_cast<size_t>(input)]] != wanted;
  });
  return inputs;
}

// Runs the rule of a node for its weights, or for its other inputs.
void run_where(BackwardWriter& writer, size_t node, const std::vector<bool>& is_weight,
               bool wanted) {
  const std::vector<int> inputs = inputs_where(writer.graph().nodes[node], is_weight, wanted);
  if (!inputs.empty()) writer.run(node, inputs, writer.result(), writer.result());
}

// All cotangents but those of weights, from the loss back.
void write_first_half(BackwardWriter& writer, const std::vector<bool>& is_weight) {
  for (size_t i = writer.graph().nodes.size(); i-- > 0;) run_where(writer, i, is_weight, false);
}

// Weights and the nodes that read them, which PyTorch calls a param group and its intermediates.
struct WeightGroup {
  std::vector<size_t> starts;    // Nodes, ascending.
  std::vector<uint32_t> values;  // Weights, ascending.
};

// Groups in the order of their first weight.
std::vector<WeightGroup> groups_of(const BackwardGraph& graph, const std::vector<bool>& is_weight) {
  std::vector<uint32_t> leader(graph.roots.size());
  std::iota(leader.begin(), leader.end(), uint32_t{0});
  const auto find = [&leader](uint32_t value) {
    while (leader[value] != value) value = leader[value] = leader[leader[value]];
    return value;
  };
  std::vector<std::vector<uint32_t>> weights_at(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const BackwardNode& node = graph.nodes[i];
    for (const int input : inputs_where(node, is_weight, true)) {
      weights_at[i].push_back(node.values[static_cast<size_t>(input)]);
    }
    for (const uint32_t value : weights_at[i]) {
      const uint32_t a = find(value);
      const uint32_t b = find(weights_at[i].front());
      leader[std::max(a, b)] = std::min(a, b);
    }
  }
  std::map<uint32_t, WeightGroup> groups;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!weights_at[i].empty()) groups[find(weights_at[i].front())].starts.push_back(i);
    for (const uint32_t value : weights_at[i]) groups[find(value)].values.push_back(value);
  }
  std::vector<WeightGroup> sorted;
  for (auto& [value, group] : groups) {
    std::sort(group.values.begin(), group.values.end());
    sorted.push_back(std::move(group));
  }
  return sorted;
}

// One walk: from the starts of a group, through all that leads to its weights, to their gradients.
class GroupWalk {
 public:
  GroupWalk(BackwardWriter& writer, const std::vector<bool>& is_weight, const WeightGroup& group)
      : writer_(writer),
        is_weight_(is_weight),
        group_(group),
        leads_there_(group.values.begin(), group.values.end()) {}

  // Leaves `walked`, which is empty, as empty.
  void run(CotangentSet& walked) {
    find_ways();
    for (size_t i = ways_.size(); i-- > 0;) run_node(group_.starts.front() + i, ways_[i], walked);
    for (size_t i = group_.starts.front(); i <= group_.starts.back(); ++i) {
      walked.node[i] = {};
      for (const uint32_t value : writer_.graph().nodes[i].values) {
        if (value != BackwardValues::kNone) walked.of[value] = {};
      }
    }
  }

 private:
  bool leads_there(uint32_t value) const { return leads_there_.count(value) > 0; }

  // By node from the first start to the last: the operands through which a walk comes to a weight.
  void find_ways() {
    const std::vector<BackwardNode>& nodes = writer_.graph().nodes;
    for (size_t i = group_.starts.front(); i <= group_.starts.back(); ++i) {
      std::vector<int>& ways = ways_.emplace_back();
      for (const int input : nodes[i].inputs) {
        if (leads_there(nodes[i].values[static_cast<size_t>(input)])) ways.push_back(input);
      }
      if (ways.empty()) continue;
      for (const int output : nodes[i].outputs) {
        leads_there_.insert(nodes[i].values[static_cast<size_t>(output)]);
      }
    }
  }

  void run_node(size_t i, const std::vector<int>& ways, CotangentSet& walked) {
    const BackwardNode& node = writer_.graph().nodes[i];
    CotangentSet& result = writer_.result();
    const bool is_start = std::binary_search(group_.starts.begin(), group_.starts.end(), i);
    bool is_reached = false;
    for (const int output : node.outputs) {
      const uint32_t value = node.values[static_cast<size_t>(output)];
      const std::string saved = result.of[value].tensor;
      if (is_start && !saved.empty()) writer_.add(i, value, saved, walked);
      is_reached |= !walked.of[value].tensor.empty();
    }
    if (!is_reached) return;
    std::vector<int> weights;
    std::vector<int> others;
    for (const int input : ways) {
      const bool is_weight = is_weight_[node.values[static_cast<size_t>(input)]];
      (is_weight ? weights : others).push_back(input);
    }
    if (!others.empty()) writer_.run(i, others, walked, walked);
    if (!weights.empty()) writer_.run(i, weights, walked, result);
  }

  BackwardWriter& writer_;
  const std::vector<bool>& is_weight_;
  const WeightGroup& group_;
  std::set<uint32_t> leads_there_;  // Values that a way to the weights comes by.
  std::vector<std::vector<int>> ways_;
};

}  // namespace

void write_split(BackwardWriter& writer) {
  const std::vector<bool> is_weight = weights_of(writer.graph());
  write_first_half(writer, is_weight);
  for (size_t i = 0; i < writer.graph().nodes.size(); ++i) run_where(writer, i, is_weight, true);
}

void write_split_pytorch_180952(BackwardWriter& writer) {
  const BackwardGraph& graph = writer.graph();
  const std::vector<bool> is_weight = weights_of(graph);
  write_first_half(writer, is_weight);
  const std::vector<WeightGroup> groups = groups_of(graph, is_weight);
  uint64_t rewalk_count = 0;
  for (const WeightGroup& group : groups) {
    if (group.starts.size() > 1) rewalk_count += group.starts.back() - group.starts.front() + 1;
  }
  if (!writer.take_rewalks(rewalk_count)) return;
  CotangentSet walked = writer.new_set(".again");
  for (const WeightGroup& group : groups) {
    if (group.starts.size() == 1) {
      run_where(writer, group.starts.front(), is_weight, true);
    } else {
      GroupWalk(writer, is_weight, group).run(walked);
    }
  }
}

}  // namespace interlock
