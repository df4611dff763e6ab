// Two walks over the program: which values depend on `wrt`, and, from the loss back, through which
// dispatches its gradient flows. Only the second can find that a dispatch is not differentiable.
//
// For example, y is the loss and w what to differentiate by:
//
//   load: dispatch Load writes x                       value 4, x
//   mul:  dispatch matmul_nn reads x w writes h        value 5, h
//   log:  dispatch Log reads h writes log
//   act:  dispatch silu reads h writes y               value 6, y
//
// Values 0 to 3 are what x, w, h and y held before, of which only w's, 1, is used. `log` is raw
// memory, and has no value.
//
// The first walk goes forward from 1. mul reads it, so 5 depends on it, act reads that, so 6 does.
// 4 does not: these three are active.
//
// The second walk goes back from 6, which is needed.
// - act writes 6: a node with the input h. 5 is needed.
// - log writes nothing that is needed. It is skipped, opaque as it is.
// - mul writes 5: a node. A matmul passes gradients to both of its inputs, and only w is active, so
//   that its inputs are {1}, the position of w. 4 is not needed.
// - load writes 4 and is skipped, opaque as well.
// The nodes are mul and act, in program order, and two VJPs follow from them: silu_vjp writes d_h,
// and matmul_tn of x and d_h writes d_w.
//
// By the first walk alone log would be on the way, by the second alone load. Both are opaque, and
// the program would be refused for a dispatch through which no gradient flows from y to w.
//
// The gradient of w reads x once more, after all of the program. If another dispatch wrote x after
// mul, the nodes would be the same, and the VJP find another x: check_saved_values refuses that.
#include "encoder/backward/backward_graph.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/error_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "encoder/backward/backward_flow.h"
#include "encoder/backward/backward_raw_writes.h"
#include "encoder/backward/backward_values.h"
#include "encoder/backward/backward_versions.h"
#include "encoder/program/interval_map.h"
#include "encoder/program/names.h"

namespace interlock {
namespace {

class GraphWalk {
 public:
  explicit GraphWalk(const Program& program)
      : program_(program),
        values_(program),
        flow_(program, values_, kernels_),
        is_needed_(values_.count(), false) {}

  Result<BackwardGraph> walk(const BackwardDraft& request) {
    if (auto named = resolve(request); !named) return named.error();
    if (auto checked = check_versions(program_, values_, kernels_, graph_); !checked) {
      return checked.error();
    }
    for (const uint32_t value : graph_.wrt) flow_.start(value, 1);
    flow_.run();
    is_needed_[graph_.loss] = true;
    const std::vector<BackwardStep>& steps = values_.steps();
    for (size_t i = steps.size(); i-- > 0;) {
      auto traced =
          steps[i].is_adoption ? trace_part(steps[i].part) : trace_back(steps[i].dispatch);
      if (!traced) return traced.error();
    }
    std::reverse(graph_.nodes.begin(), graph_.nodes.end());
    if (auto kept = check_saved_values(); !kept) return kept.error();
    if (auto kept = check_raw_writes(program_, values_, graph_); !kept) return kept.error();
    for (uint32_t i = 0; i < values_.count(); ++i) graph_.roots.push_back(values_.value(i).root);
    return std::move(graph_);
  }

 private:
  Result<Success> resolve(const BackwardDraft& request) {
    std::map<std::string_view, TensorId> tensors;
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      tensors.emplace(program_.name(program_.tensors[i].name), TensorId(i));
    }
    const auto check = [&](const std::string& name, std::string_view role) -> Result<TensorId> {
      const auto found = tensors.find(name);
      if (found == tensors.end()) {
        return error_of("The program has no tensor {}, which is to be {} of the backward pass.",
                        in_quotes(name), role);
      }
      const Tensor& tensor = program_.tensor(found->second);
      if (tensor.dtype == DType::kF32 && is_whole(program_, tensor)) return found->second;
      return error_of(
          "Tensor {} {}; {} of a backward pass is a whole tensor of f32.", in_quotes(name),
          tensor.dtype != DType::kF32
              ? fmt::format("has {} elements", word_of(tensor.dtype))
              : fmt::format("views a part of {}",
                            in_quotes(program_.name(program_.tensor(tensor.root).name))),
          role);
    };
    const Result<TensorId> loss = check(request.loss, "the loss");
    if (!loss) return loss.error();
    if (request.wrt.empty()) {
      return Error{"The backward pass names no tensor to differentiate by; it needs at least one."};
    }
    graph_.loss_tensor = *loss;
    graph_.loss = values_.current_of(*loss);
    for (const std::string& name : request.wrt) {
      const Result<TensorId> wrt = check(name, "a tensor to differentiate by");
      if (!wrt) return wrt.error();
      graph_.wrt_tensors.push_back(*wrt);
      graph_.wrt.push_back(values_.current_of(*wrt));
    }
    std::vector<TensorId> sorted = graph_.wrt_tensors;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice == sorted.end()) return Success{};
    return error_of("Tensor {} is named twice to differentiate by; once is allowed.",
                    in_quotes(program_.name(program_.tensor(*twice).name)));
  }

  bool is_active(uint32_t value) const { return flow_.reaching(value) != 0; }
  bool reads_raw(const Access& access) const { return flow_.reaching_raw(access) != 0; }

  // The gradient cannot go on from what adopted a part of a tensor to that tensor.
  Result<Success> trace_part(uint32_t part) const {
    const uint32_t whole = values_.value(part).whole;
    if (!is_needed_[part] || !is_active(whole)) return Success{};
    return error_of(
        "The backward pass from {} meets {}, which takes over a part of {}; a backward pass follows whole tensors only.",
        in_quotes(program_.name(program_.tensor(graph_.loss_tensor).name)),
        program_.description_of(values_.value(part).adoption),
        program_.name(program_.tensor(values_.value(whole).root).name));
  }

  Result<Success> trace_back(uint32_t index) {
    const Dispatch& dispatch = program_.dispatches[index];
    const auto accesses = program_.accesses_of(dispatch);
    bool is_needed = false;
    for (size_t a = 0; a < accesses.size(); ++a) {
      const uint32_t value = values_.of_operand(dispatch, a);
      const bool writes_value = !accesses[a].only_reads() && value != BackwardValues::kNone;
      is_needed |= writes_value && is_needed_[value] && is_active(value);
    }
    // What writes a tensor of `wrt` is no part of the way, unless another one of them comes in.
    if (!is_needed || !flow_.passes(index)) return Success{};
    const std::string defect = defect_of(dispatch);
    if (!defect.empty()) {
      return error_of("The backward pass from {} meets {}, which {}.",
                      in_quotes(program_.name(program_.tensor(graph_.loss_tensor).name)),
                      program_.description_of(DispatchId(index)), defect);
    }
    BackwardNode node;
    node.dispatch = DispatchId(index);
    node.rule = kernels_.rule_of(dispatch);
    for (size_t a = 0; a < accesses.size(); ++a) {
      node.values.push_back(values_.of_operand(dispatch, a));
      if (accesses[a].writes_plainly()) node.outputs.push_back(static_cast<int>(a));
    }
    for (const int input : kernels_.inputs_of(dispatch)) {
      const uint32_t value = node.values[static_cast<size_t>(input)];
      if (!is_active(value)) continue;
      is_needed_[value] = true;
      node.inputs.push_back(input);
    }
    graph_.nodes.push_back(std::move(node));
    return Success{};
  }

  // Why no gradient can flow through the dispatch; empty if it can.
  std::string defect_of(const Dispatch& dispatch) const {
    if (is_opaque(program_, dispatch)) return "is opaque: nothing is known of what it computes";
    if (has_rows(program_, dispatch)) {
      return "has operands in rows; a backward pass follows whole tensors only";
    }
    const auto accesses = program_.accesses_of(dispatch);
    for (const Access& access : accesses) {
      if (access.mode != AccessMode::kWrite && reads_raw(access)) {
        return fmt::format(
            "reads {}, where raw bytes of memory come in between; a backward pass follows tensors only",
            program_.text_of(access));
      }
    }
    if (kernels_.rule_of(dispatch) == nullptr) {
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
    const Access& access = program_.accesses_of(dispatch)[operand];
    if (access.only_reads()) {
      const uint32_t value = values_.of_operand(dispatch, operand);
      const bool matters =
          value != BackwardValues::kNone && is_active(value) && kernels_.carries(dispatch, operand);
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
    if (access.only_reads() || !values_.is_read_by(dispatch, values_.root_of(access))) return {};
    return fmt::format("overwrites {}, which it reads; what it held before is needed",
                       program_.text_of(access));
  }

  Result<Success> check_saved_values() const {
    for (const BackwardNode& node : graph_.nodes) {
      for (const int primal : saved_primals_of(*node.rule, node.inputs)) {
        const uint32_t value = node.values[static_cast<size_t>(primal)];
        if (value == BackwardValues::kNone || !values_.is_overwritten(value)) continue;
        return overwritten_error(node, value);
      }
    }
    return check_saved_bytes();
  }

  // What is written raw makes no new value of a tensor, and is in its bytes all the same.
  Result<Success> check_saved_bytes() const {
    const std::vector<BackwardStep>& steps = values_.steps();
    IntervalMap<bool> written;  // After the node.
    size_t step = steps.size();
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const BackwardNode& node = graph_.nodes[i];
      while (steps[step - 1].is_adoption || DispatchId(steps[step - 1].dispatch) != node.dispatch) {
        --step;
        if (steps[step].is_adoption) continue;
        for (const Access& access : program_.accesses_of(DispatchId(steps[step].dispatch))) {
          const bool is_raw_write = !access.only_reads() && !access.tensor.is_some();
          if (is_raw_write) written.assign(access.memory, access.range, true);
        }
      }
      for (const int primal : saved_primals_of(*node.rule, node.inputs)) {
        const uint32_t value = node.values[static_cast<size_t>(primal)];
        if (value == BackwardValues::kNone) continue;
        const Tensor& root = program_.tensor(values_.value(value).root);
        bool is_written = false;
        written.for_each(root.memory, root.range,
                         [&](const auto& run) { is_written |= run.value; });
        if (is_written) return overwritten_error(node, value);
      }
    }
    return Success{};
  }

  Error overwritten_error(const BackwardNode& node, uint32_t value) const {
    return error_of(
        "The backward pass of {} needs what {} held then, and a later dispatch overwrites it.",
        program_.description_of(node.dispatch),
        program_.name(program_.tensor(values_.value(value).root).name));
  }

  const Program& program_;
  const BackwardValues values_;
  const GradientKernels kernels_;
  BackwardFlow flow_;            // From `wrt`.
  std::vector<bool> is_needed_;  // By value: the gradient of the loss flows through it.
  BackwardGraph graph_;
};

}  // namespace

Result<BackwardGraph> backward_graph(const Program& program, const BackwardDraft& request) {
  if (program.has_any(LifetimeKind::kAdopt) && program.has_program_order) {
    return Error{
        "The program has 'order=' and adopts tensors; a backward pass follows adoptions in issue order only."};
  }
  return GraphWalk(program).walk(request);
}

}  // namespace interlock
