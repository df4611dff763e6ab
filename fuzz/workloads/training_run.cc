// The basic idea is to differentiate one micro-batch alone, and to write the result down for each,
// under names of its own: so an update of the weights in between is no part of any gradient.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "encoder/assemble/build.h"
#include "encoder/backward/backward.h"
#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "fuzz/workloads/forward_pass.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

// More than a forward pass has weights and inputs.
constexpr uint64_t kSeedStep = 1'000'003;

const char* const kLosses = "losses";
const char* const kNorms = "norms";

uint64_t draft_element_count(const TensorDraft& tensor) {
  uint64_t count = 1;
  for (const uint64_t extent : tensor.shape) count *= extent;
  return count;
}

}  // namespace

class TrainingRun {
 public:
  TrainingRun(const ForwardPass& pass, const WorkloadOptions& options)
      : pass_(pass), options_(options) {}

  Result<ProgramDraft> run() {
    if (auto checked = check_options(); !checked) return checked.error();
    if (options_.is_batch_alone) {
      ProgramDraft draft = first_batch();
      if (is_trained()) {
        draft.items.emplace_back(BackwardDraft{pass_.loss_, pass_.trained_, options_.backward});
      }
      return draft;
    }
    if (is_trained()) {
      if (auto differentiated = differentiate(); !differentiated) return differentiated.error();
    }
    for (const auto* tensors : {&pass_.weights_, &pass_.saved_}) {
      for (const TensorDraft& tensor : *tensors) {
        shared_.insert(tensor.name);
        tensors_.items.emplace_back(tensor);
      }
    }
    for (const DispatchDraft& dispatch : pass_.prologue_) statements_.items.emplace_back(dispatch);
    OutputDraft outputs;
    if (is_trained()) outputs.tensors = pass_.trained_;
    if (options_.collects_losses) outputs.tensors.push_back(add_values(kLosses, {batch_count()}));
    if (is_trained() && options_.collects_norms) {
      outputs.tensors.push_back(add_values(kNorms, {options_.step_count}));
    }
    for (uint64_t step = 0; step < options_.step_count; ++step) append_step(step, outputs);
    if (is_stopped()) return Error{"Writing the program was stopped."};
    ProgramDraft draft;
    if (options_.step_count > 1) draft.items.emplace_back(MemoryDraft{"step", 4, false});
    draft.items.insert(draft.items.end(), tensors_.items.begin(), tensors_.items.end());
    draft.items.emplace_back(std::move(outputs));
    draft.items.insert(draft.items.end(), statements_.items.begin(), statements_.items.end());
    return draft;
  }

 private:
  using enum AccessMode;

  ProgramDraft first_batch() const {
    ProgramDraft draft;
    for (const auto* tensors : {&pass_.weights_, &pass_.saved_, &pass_.values_}) {
      for (TensorDraft tensor : *tensors) {
        draw_initial_values(tensor, 0);
        draft.items.emplace_back(std::move(tensor));
      }
    }
    for (const auto* dispatches : {&pass_.prologue_, &pass_.dispatches_}) {
      draft.items.insert(draft.items.end(), dispatches->begin(), dispatches->end());
    }
    return draft;
  }

  Result<Success> differentiate() {
    const auto program = build(first_batch());
    if (!program) return program.error();
    auto items = backward_items(*program, {pass_.loss_, pass_.trained_, options_.backward});
    if (!items) return items.error();
    backward_ = std::move(items).value();
    return Success{};
  }

  Result<Success> check_options() const {
    if (options_.optimizer != "sgd" && options_.optimizer != "adamw") {
      return error_of("there is no optimizer '{}'; there are sgd and adamw.", options_.optimizer);
    }
    return Success{};
  }

  uint64_t batch_count() const { return options_.step_count * options_.micro_batch_count; }
  bool is_trained() const { return !options_.backward.empty(); }

  // The name of a value or a label in micro-batch number `batch`; weights have one name.
  std::string name_in(const std::string& name, uint64_t batch) const {
    if (shared_.count(name) > 0 || batch_count() == 1) return name;
    return fmt::format("{}.b{}", name, batch);
  }

  void append_batch(uint64_t batch) {
    for (const TensorDraft& tensor : pass_.values_) append_item(tensor, batch);
    for (const DispatchDraft& dispatch : pass_.dispatches_) append_item(dispatch, batch);
    for (const ItemDraft& item : backward_) append_item(item, batch);
  }

  void append_item(ItemDraft item, uint64_t batch) {
    if (auto* tensor = std::get_if<TensorDraft>(&item)) {
      draw_initial_values(*tensor, batch);
      tensor->name = name_in(tensor->name, batch);
      if (!tensor->base.empty()) tensor->base = name_in(tensor->base, batch);
      tensors_.items.push_back(std::move(item));
      return;
    }
    auto& dispatch = std::get<DispatchDraft>(item);
    dispatch.label = name_in(dispatch.label, batch);
    for (OperandDraft& operand : dispatch.operands) operand.name = name_in(operand.name, batch);
    statements_.items.push_back(std::move(item));
  }

  // Other data in every micro-batch, unless the same is asked for.
  void draw_initial_values(TensorDraft& tensor, uint64_t batch) const {
    if (options_.repeats_batch) batch = 0;
    InitialValue& initial = tensor.initial;
    if (initial.kind == InitialKind::kRandom) initial.seed += kSeedStep * batch;
    if (initial.kind != InitialKind::kValues) return;
    SeededChoice choice(initial.seed + kSeedStep * batch);
    initial = {InitialKind::kValues, 0, {}};
    for (uint64_t i = 0; i < tensor.shape[0]; ++i) {
      initial.values.push_back(static_cast<double>(choice.below(pass_.id_bounds_.at(tensor.name))));
    }
  }

  void zero_gradients(uint64_t step) {
    for (const TensorDraft* weight : trained()) {
      const std::string sum = gradient_of(weight->name, step);
      add_tensor(*weight, sum, InitialKind::kNone);
      add_dispatch(fmt::format("zero_{}.s{}", weight->name, step), "fill", {{kWrite, sum, {}}},
                   {{"value", "0"}});
    }
  }

  // The first gradient of a step begins the sum, unless zeros do.
  void add_up_gradients(uint64_t batch) {
    if (!has_sums()) return;
    const uint64_t step = batch / options_.micro_batch_count;
    const bool is_first = batch % options_.micro_batch_count == 0 && !options_.zeroes_gradients;
    for (const TensorDraft* weight : trained()) {
      const std::string part = name_in("d_" + weight->name, batch);
      const std::string sum = gradient_of(weight->name, step);
      if (is_first) add_tensor(*weight, sum, InitialKind::kNone);
      add_dispatch(fmt::format("add_{}.b{}", weight->name, batch), is_first ? "copy" : "accumulate",
                   {{kRead, part, {}}, {is_first ? kWrite : kUpdate, sum, {}}});
    }
  }

  void append_optimizer(uint64_t step) {
    for (const TensorDraft* weight : trained()) {
      std::vector<OperandDraft> operands = {{kRead, gradient_of(weight->name, step), {}},
                                            {kUpdate, weight->name, {}}};
      ForwardPass::Attributes attributes = {{"lr", "0.01"}};
      if (options_.optimizer == "adamw") {
        for (const char* moment : {"m_", "v_"}) {
          const std::string name = moment + weight->name;
          if (step == 0) add_tensor(*weight, name, InitialKind::kZeros);
          operands.push_back({kUpdate, name, {}});
        }
        attributes.emplace_back("step", std::to_string(step + 1));
      }
      add_dispatch(fmt::format("step_{}.s{}", weight->name, step), options_.optimizer,
                   std::move(operands), std::move(attributes));
    }
  }

  void append_step(uint64_t step, OutputDraft& outputs) {
    if (step > 0) {
      statements_.items.emplace_back(LifetimeDraft{"", LifetimeKind::kReset, "step", ""});
    }
    if (is_trained() && options_.zeroes_gradients) zero_gradients(step);
    for (uint64_t i = 0; i < options_.micro_batch_count; ++i) {
      const uint64_t batch = step * options_.micro_batch_count + i;
      if (is_stopped()) return;
      append_batch(batch);
      if (options_.collects_losses) {
        collect_loss(batch);
      } else {
        outputs.tensors.push_back(name_in(pass_.loss_, batch));
      }
      if (is_trained()) add_up_gradients(batch);
    }
    if (!is_trained()) return;
    if (options_.collects_norms) collect_norm(step);
    append_optimizer(step);
  }

  void collect_loss(uint64_t batch) {
    const auto loss = std::ranges::find(pass_.values_, pass_.loss_, &TensorDraft::name);
    const std::string label = fmt::format("collect_loss.b{}", batch);
    add_sum(label, name_in(pass_.loss_, batch), draft_element_count(*loss),
            add_window("at_" + label, kLosses, {1}, batch));
  }

  void collect_norm(uint64_t step) {
    const std::vector<const TensorDraft*> weights = trained();
    const std::string parts = add_values(fmt::format("norm_parts.s{}", step), {weights.size()});
    for (uint64_t i = 0; i < weights.size(); ++i) {
      const std::string label = fmt::format("norm_{}.s{}", weights[i]->name, step);
      const std::string gradient = gradient_of(weights[i]->name, step);
      const std::string squares = "squares_" + label;
      add_tensor(*weights[i], squares, InitialKind::kNone);
      add_dispatch(squares, "mul",
                   {{kRead, gradient, {}}, {kRead, gradient, {}}, {kWrite, squares, {}}});
      add_sum(label, squares, draft_element_count(*weights[i]),
              add_window("at_" + label, parts, {1}, i));
    }
    const std::string label = fmt::format("collect_norm.s{}", step);
    add_sum(label, parts, weights.size(), add_window("at_" + label, kNorms, {1}, step));
  }

  std::vector<const TensorDraft*> trained() const {
    std::vector<const TensorDraft*> weights;
    for (const TensorDraft& weight : pass_.weights_) {
      const bool is_trained =
          std::ranges::find(pass_.trained_, weight.name) != pass_.trained_.end();
      if (is_trained) weights.push_back(&weight);
    }
    return weights;
  }

  bool has_sums() const { return options_.micro_batch_count > 1 || options_.zeroes_gradients; }

  void add_tensor(const TensorDraft& like, const std::string& name, InitialKind initial) {
    TensorDraft tensor = like;
    tensor.name = name;
    tensor.initial = {initial, 0, {}};
    tensors_.items.emplace_back(std::move(tensor));
  }

  std::string add_values(const std::string& name, std::vector<uint64_t> shape) {
    add_tensor({.shape = std::move(shape), .placement = Placement::kUnplaced}, name,
               InitialKind::kNone);
    return name;
  }

  // A window of that shape on element number `first` of `base` and those after it.
  std::string add_window(const std::string& name, const std::string& base,
                         std::vector<uint64_t> shape, uint64_t first = 0) {
    add_tensor({.shape = std::move(shape),
                .placement = Placement::kView,
                .base = base,
                .offset_bytes = first * sizeof(float)},
               name, InitialKind::kNone);
    return name;
  }

  // `to`, one element, is the sum of `count` elements of `from`.
  void add_sum(const std::string& label, const std::string& from, uint64_t count,
               const std::string& to) {
    const std::string row = add_window("row_" + label, from, {1, count});
    add_dispatch(label, "row_sum", {{kRead, row, {}}, {kWrite, to, {}}});
  }

  void add_dispatch(const std::string& label, const std::string& kernel,
                    std::vector<OperandDraft> operands, ForwardPass::Attributes attributes = {}) {
    statements_.items.emplace_back(DispatchDraft{.label = label,
                                                 .kernel = kernel,
                                                 .operands = std::move(operands),
                                                 .attributes = std::move(attributes)});
  }

  std::string gradient_of(const std::string& weight, uint64_t step) const {
    if (has_sums()) return fmt::format("sum_{}.s{}", weight, step);
    return name_in("d_" + weight, step);
  }

  const ForwardPass& pass_;
  const WorkloadOptions& options_;
  std::vector<ItemDraft> backward_;
  std::set<std::string> shared_;  // Names that all batches share.
  ProgramDraft tensors_;
  ProgramDraft statements_;
};

Result<ProgramDraft> ForwardPass::training_run(const WorkloadOptions& options) const {
  return TrainingRun(*this, options).run();
}

}  // namespace interlock
