// Three walks over the program: which value each operand is, which values depend on `wrt`, and,
// from the loss back, through which dispatches its gradient flows. Only the last can find that a
// dispatch is not differentiable.
#include "encoder/backward_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "encoder/kernel_table.h"
#include "encoder/names.h"

namespace interlock {
namespace {

constexpr uint32_t kNoValue = BackwardGraph::kNoValue;

struct Value {
  TensorId root;
  uint32_t previous = kNoValue;  // What the tensor held before.
  bool is_active = false;        // Depends on `wrt`.
  bool is_needed = false;        // The gradient of the loss flows through it.
};

bool is_whole(const Program& program, const Tensor& tensor) {
  const Tensor& root = program.tensor(tensor.root);
  return tensor.range == root.range && tensor.dtype == root.dtype;
}

class GraphWalk {
 public:
  explicit GraphWalk(const Program& program)
      : program_(program),
        current_(program.tensors.size(), kNoValue),
        operand_values_(program.accesses.size(), kNoValue),
        holds_active_(program.memories.size(), false),
        has_raw_write_(program.memories.size(), false),
        rules_(kernel_table().size(), nullptr),
        rule_inputs_(kernel_table().size()) {
    for (const VjpRule& rule : vjp_rules()) {
      const size_t kernel = find_kernel(rule.kernel)->index;
      rules_[kernel] = &rule;
      rule_inputs_[kernel] = inputs_of(rule);
    }
    order_.resize(program.dispatches.size());
    std::iota(order_.begin(), order_.end(), uint32_t{0});
    if (program.has_program_order) {
      std::sort(order_.begin(), order_.end(), [&program](uint32_t a, uint32_t b) {
        return program.dispatches[a].order < program.dispatches[b].order;
      });
    }
  }

  Result<BackwardGraph> walk(const BackwardRequest& request) {
    number_values();
    if (auto named = resolve(request); !named) return named.error();
    for (const uint32_t value : graph_.wrt) activate(value);
    for (const uint32_t dispatch : order_) spread_activity(dispatch);
    values_[graph_.loss].is_needed = values_[graph_.loss].is_active;
    for (size_t i = order_.size(); i-- > 0;) {
      if (auto traced = trace_back(order_[i]); !traced) return traced.error();
    }
    std::reverse(graph_.nodes.begin(), graph_.nodes.end());
    if (auto kept = check_saved_values(); !kept) return kept.error();
    for (const Value& value : values_) graph_.roots.push_back(value.root);
    return std::move(graph_);
  }

 private:
  void number_values() {
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const TensorId root = program_.tensors[i].root;
      if (root != TensorId(i)) continue;
      current_[i] = static_cast<uint32_t>(values_.size());
      values_.push_back({root});
    }
    for (const uint32_t index : order_) {
      const Dispatch& dispatch = program_.dispatches[index];
      const auto accesses = program_.accesses_of(dispatch);
      for (size_t a = 0; a < accesses.size(); ++a) {
        if (!accesses[a].tensor.is_some()) continue;
        operand_values_[dispatch.first_access + a] = current_[root_of(accesses[a])];
      }
      for (size_t a = 0; a < accesses.size(); ++a) {
        const bool is_read_only = accesses[a].only_reads();
        if (is_read_only || !accesses[a].tensor.is_some()) continue;
        uint32_t& current = current_[root_of(accesses[a])];
        values_.push_back({program_.tensor(accesses[a].tensor).root, current});
        current = static_cast<uint32_t>(values_.size() - 1);
        operand_values_[dispatch.first_access + a] = current;
      }
    }
  }

  Result<Success> resolve(const BackwardRequest& request) {
    std::vector<std::pair<std::string_view, TensorId>> names;
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      names.emplace_back(program_.name(program_.tensors[i].name), TensorId(i));
    }
    std::sort(names.begin(), names.end());
    const auto find = [&](const std::string& name) {
      const auto found = std::lower_bound(names.begin(), names.end(),
                                          std::pair(std::string_view(name), TensorId(0)));
      return found != names.end() && found->first == name ? found->second : TensorId();
    };
    const auto check = [&](const std::string& name, std::string_view role) -> Result<TensorId> {
      const TensorId id = find(name);
      if (!id.is_some()) {
        return Error{
            fmt::format("The program has no tensor {}, which is to be {} of the backward "
                        "pass.",
                        in_quotes(name), role)};
      }
      const Tensor& tensor = program_.tensor(id);
      if (tensor.dtype == DType::kF32 && is_whole(program_, tensor)) return id;
      return Error{fmt::format(
          "Tensor {} {}; {} of a backward pass is a whole tensor of f32.", in_quotes(name),
          tensor.dtype != DType::kF32
              ? fmt::format("has {} elements", word_of(tensor.dtype))
              : fmt::format("views a part of {}",
                            in_quotes(program_.name(program_.tensor(tensor.root).name))),
          role)};
    };
    const Result<TensorId> loss = check(request.loss, "the loss");
    if (!loss) return loss.error();
    if (request.wrt.empty()) {
      return Error{"The backward pass names no tensor to differentiate by; it needs at least one."};
    }
    graph_.loss_tensor = *loss;
    graph_.loss = current_value_of(*loss);
    for (const std::string& name : request.wrt) {
      const Result<TensorId> wrt = check(name, "a tensor to differentiate by");
      if (!wrt) return wrt.error();
      graph_.wrt_tensors.push_back(*wrt);
      graph_.wrt.push_back(current_value_of(*wrt));
    }
    std::vector<TensorId> sorted = graph_.wrt_tensors;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice == sorted.end()) return Success{};
    return Error{fmt::format("Tensor {} is named twice to differentiate by; once is allowed.",
                             in_quotes(program_.name(program_.tensor(*twice).name)))};
  }

  void activate(uint32_t value) {
    values_[value].is_active = true;
    holds_active_[program_.tensor(values_[value].root).memory.index] = true;
  }

  // True iff the gradient flows through an operand that is read. Of a kernel without a rule, and of
  // bytes that are read raw, nothing is known but that it may.
  bool carries_gradient(const Dispatch& dispatch, size_t operand) const {
    if (rules_[dispatch.kernel.index] == nullptr) return true;
    const std::vector<int>& inputs = rule_inputs_[dispatch.kernel.index];
    return std::find(inputs.begin(), inputs.end(), static_cast<int>(operand)) != inputs.end();
  }

  void spread_activity(uint32_t index) {
    const Dispatch& dispatch = program_.dispatches[index];
    const auto accesses = program_.accesses_of(dispatch);
    bool is_active = false;
    for (size_t a = 0; a < accesses.size(); ++a) {
      const Access& access = accesses[a];
      if (access.mode == AccessMode::kWrite) continue;
      if (reads_raw(access)) {
        is_active = true;
      } else if (access.tensor.is_some() && carries_gradient(dispatch, a)) {
        const uint32_t value = operand_values_[dispatch.first_access + a];
        const uint32_t read = access.only_reads() ? value : values_[value].previous;
        is_active |= values_[read].is_active;
      }
    }
    for (size_t a = 0; a < accesses.size(); ++a) {
      const Access& access = accesses[a];
      if (access.only_reads()) continue;
      if (!access.tensor.is_some()) {
        has_raw_write_[access.memory.index] = has_raw_write_[access.memory.index] || is_active;
        continue;
      }
      const uint32_t value = operand_values_[dispatch.first_access + a];
      const bool keeps_old = access.is_sliced || dispatch.is_partial ||
                             !is_whole(program_, program_.tensor(access.tensor));
      const bool is_old_active = values_[values_[value].previous].is_active;
      if (is_active || (keeps_old && is_old_active)) activate(value);
    }
  }

  // True iff what `wrt` reaches comes in through raw bytes.
  bool reads_raw(const Access& access) const {
    const size_t memory = access.memory.index;
    return has_raw_write_[memory] || (!access.tensor.is_some() && holds_active_[memory]);
  }

  Result<Success> trace_back(uint32_t index) {
    const Dispatch& dispatch = program_.dispatches[index];
    const auto accesses = program_.accesses_of(dispatch);
    bool is_needed = false;
    for (size_t a = 0; a < accesses.size(); ++a) {
      const uint32_t value = operand_values_[dispatch.first_access + a];
      const bool writes_value = !accesses[a].only_reads() && value != kNoValue;
      is_needed |= writes_value && values_[value].is_needed && values_[value].is_active;
    }
    if (!is_needed) return Success{};
    const std::string defect = defect_of(dispatch);
    if (!defect.empty()) {
      return Error{fmt::format("The backward pass from {} meets {}, which {}.",
                               in_quotes(program_.name(program_.tensor(graph_.loss_tensor).name)),
                               program_.description_of(DispatchId(index)), defect)};
    }
    BackwardNode node;
    node.dispatch = DispatchId(index);
    node.rule = rules_[dispatch.kernel.index];
    for (size_t a = 0; a < accesses.size(); ++a) {
      node.values.push_back(operand_values_[dispatch.first_access + a]);
      if (accesses[a].writes()) node.outputs.push_back(static_cast<int>(a));
    }
    for (const int input : rule_inputs_[dispatch.kernel.index]) {
      Value& value = values_[node.values[static_cast<size_t>(input)]];
      if (!value.is_active) continue;
      value.is_needed = true;
      node.inputs.push_back(input);
    }
    graph_.nodes.push_back(std::move(node));
    return Success{};
  }

  // Why no gradient can flow through the dispatch; empty if it can.
  std::string defect_of(const Dispatch& dispatch) const {
    if (is_opaque(program_, dispatch)) return "is opaque: nothing is known of what it computes";
    const auto accesses = program_.accesses_of(dispatch);
    for (const Access& access : accesses) {
      if (access.mode != AccessMode::kWrite && reads_raw(access)) {
        return fmt::format(
            "reads {}, where raw bytes of memory come in between; a backward pass "
            "follows tensors only",
            program_.text_of(access));
      }
    }
    if (rules_[dispatch.kernel.index] == nullptr) {
      return fmt::format("has no VJP rule: {} cannot be differentiated",
                         program_.name(dispatch.kernel_name));
    }
    for (size_t a = 0; a < accesses.size(); ++a) {
      std::string defect = defect_of(dispatch, a);
      if (!defect.empty()) return defect;
    }
    return {};
  }

  std::string defect_of(const Dispatch& dispatch, size_t operand) const {
    const auto accesses = program_.accesses_of(dispatch);
    const Access& access = accesses[operand];
    if (access.only_reads()) {
      const uint32_t value = operand_values_[dispatch.first_access + operand];
      const bool matters =
          value != kNoValue && values_[value].is_active && carries_gradient(dispatch, operand);
      if (!matters) return {};
    } else if (access.mode != AccessMode::kWrite) {
      return fmt::format("updates {} in place; what it held before is needed",
                         program_.text_of(access));
    }
    const std::string_view verb = access.only_reads() ? "reads" : "writes";
    if (!access.tensor.is_some()) {
      return fmt::format("{} the raw bytes {}; a backward pass follows tensors only", verb,
                         program_.text_of(access));
    }
    const Tensor& tensor = program_.tensor(access.tensor);
    if (access.is_sliced || !is_whole(program_, tensor)) {
      return fmt::format("{} {}, a part of {}; a backward pass follows whole tensors only", verb,
                         program_.text_of(access),
                         program_.name(program_.tensor(tensor.root).name));
    }
    if (tensor.dtype != DType::kF32) {
      return fmt::format("{} {}, which has elements of {}; gradients are f32", verb,
                         program_.text_of(access), word_of(tensor.dtype));
    }
    const bool is_read_too =
        !access.only_reads() &&
        std::any_of(accesses.begin(), accesses.end(), [&](const Access& other) {
          return other.only_reads() && other.tensor.is_some() && root_of(other) == root_of(access);
        });
    if (!is_read_too) return {};
    return fmt::format("overwrites {}, which it reads; what it held before is needed",
                       program_.text_of(access));
  }

  Result<Success> check_saved_values() const {
    for (const BackwardNode& node : graph_.nodes) {
      for (const int primal : saved_primals_of(*node.rule, node.inputs)) {
        const uint32_t value = node.values[static_cast<size_t>(primal)];
        if (value == kNoValue) continue;
        const TensorId root = values_[value].root;
        if (current_[root.index] == value) continue;
        return Error{fmt::format(
            "The backward pass of {} needs what {} held then, and a later dispatch overwrites it.",
            program_.description_of(node.dispatch), program_.name(program_.tensor(root).name))};
      }
    }
    return Success{};
  }

  uint32_t root_of(const Access& access) const { return program_.tensor(access.tensor).root.index; }
  uint32_t current_value_of(TensorId tensor) const {
    return current_[program_.tensor(tensor).root.index];
  }

  const Program& program_;
  std::vector<Value> values_;
  std::vector<uint32_t> current_;         // By root: its value so far; at last, its last one.
  std::vector<uint32_t> operand_values_;  // By access; of writes, the new value.
  std::vector<bool> holds_active_;        // By memory: a tensor in it depends on `wrt`.
  std::vector<bool> has_raw_write_;       // By memory: so do bytes that were written raw.
  std::vector<uint32_t> order_;           // Program order.
  std::vector<const VjpRule*> rules_;     // By kernel.
  std::vector<std::vector<int>> rule_inputs_;
  BackwardGraph graph_;
};

}  // namespace

Result<BackwardGraph> backward_graph(const Program& program, const BackwardRequest& request) {
  return GraphWalk(program).walk(request);
}

}  // namespace interlock
