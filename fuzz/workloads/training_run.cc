// The basic idea is to differentiate one micro-batch alone, and to write the result down for each,
// under names of its own: so an update of the weights in between is no part of any gradient.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "encoder/backward.h"
#include "encoder/check.h"
#include "encoder/program_builder.h"
#include "fuzz/workloads/forward_pass.h"
#include "simulator/choice.h"

namespace interlock {
namespace {

// More than a forward pass has weights and inputs.
constexpr uint64_t kSeedStep = 1'000'003;

}  // namespace

class TrainingRun {
 public:
  TrainingRun(const ForwardPass& pass, const WorkloadOptions& options)
      : pass_(pass), options_(options) {}

  Result<ProgramDraft> run();

 private:
  Result<Success> differentiate();
  Result<Success> check_options() const;
  uint64_t batch_count() const { return options_.step_count * options_.micro_batch_count; }
  bool is_trained() const { return !options_.backward.empty(); }
  // The name of a value or a label in micro-batch number `batch`; weights have one name.
  std::string name_in(const std::string& name, uint64_t batch) const;
  void append_batch(uint64_t batch);
  void append_item(ItemDraft item, uint64_t batch);
  void draw_initial_values(TensorDraft& tensor, uint64_t batch) const;
  void add_up_gradients(uint64_t batch);
  void append_optimizer(uint64_t step);
  void add_tensor(const TensorDraft& like, const std::string& name, InitialKind initial);
  void add_dispatch(const std::string& label, const std::string& kernel,
                    std::vector<OperandDraft> operands, ForwardPass::Attributes attributes = {});
  std::string gradient_of(const std::string& weight, uint64_t step) const;

  const ForwardPass& pass_;
  const WorkloadOptions& options_;
  std::vector<ItemDraft> backward_;
  std::set<std::string> shared_;  // Names that all batches share.
  ProgramDraft tensors_;
  ProgramDraft statements_;
};

Result<Success> TrainingRun::check_options() const {
  if (options_.optimizer != "sgd" && options_.optimizer != "adamw") {
    return Error{
        fmt::format("there is no optimizer '{}'; there are sgd and adamw.", options_.optimizer)};
  }
  return Success{};
}

Result<Success> TrainingRun::differentiate() {
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
  const auto program = build(draft);
  if (!program) return program.error();
  auto items = backward_items(*program, {pass_.loss_, pass_.trained_, options_.backward});
  if (!items) return items.error();
  backward_ = std::move(items).value();
  return Success{};
}

std::string TrainingRun::name_in(const std::string& name, uint64_t batch) const {
  if (shared_.count(name) > 0 || batch_count() == 1) return name;
  return fmt::format("{}.b{}", name, batch);
}

// Other data in every micro-batch, unless the same is asked for.
void TrainingRun::draw_initial_values(TensorDraft& tensor, uint64_t batch) const {
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

void TrainingRun::append_item(ItemDraft item, uint64_t batch) {
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

void TrainingRun::add_tensor(const TensorDraft& like, const std::string& name,
                             InitialKind initial) {
  TensorDraft tensor = like;
  tensor.name = name;
  tensor.initial = {initial, 0, {}};
  tensors_.items.emplace_back(std::move(tensor));
}

void TrainingRun::add_dispatch(const std::string& label, const std::string& kernel,
                               std::vector<OperandDraft> operands,
                               ForwardPass::Attributes attributes) {
  DispatchDraft dispatch;
  dispatch.label = label;
  dispatch.kernel = kernel;
  dispatch.operands = std::move(operands);
  dispatch.attributes = std::move(attributes);
  statements_.items.emplace_back(std::move(dispatch));
}

void TrainingRun::append_batch(uint64_t batch) {
  for (const TensorDraft& tensor : pass_.values_) append_item(tensor, batch);
  for (const DispatchDraft& dispatch : pass_.dispatches_) append_item(dispatch, batch);
  for (const ItemDraft& item : backward_) append_item(item, batch);
}

std::string TrainingRun::gradient_of(const std::string& weight, uint64_t step) const {
  if (options_.micro_batch_count > 1) return fmt::format("sum_{}.s{}", weight, step);
  return name_in("d_" + weight, step);
}

// The first gradient of a step begins the sum.
void TrainingRun::add_up_gradients(uint64_t batch) {
  if (options_.micro_batch_count == 1) return;
  const uint64_t step = batch / options_.micro_batch_count;
  const bool is_first = batch % options_.micro_batch_count == 0;
  for (const TensorDraft& weight : pass_.weights_) {
    const std::string part = name_in("d_" + weight.name, batch);
    const std::string sum = gradient_of(weight.name, step);
    if (std::find(pass_.trained_.begin(), pass_.trained_.end(), weight.name) ==
        pass_.trained_.end()) {
      continue;
    }
    if (is_first) add_tensor(weight, sum, InitialKind::kNone);
    add_dispatch(fmt::format("add_{}.b{}", weight.name, batch), is_first ? "copy" : "accumulate",
                 {{AccessMode::kRead, part, {}},
                  {is_first ? AccessMode::kWrite : AccessMode::kUpdate, sum, {}}});
  }
}

void TrainingRun::append_optimizer(uint64_t step) {
  for (const TensorDraft& weight : pass_.weights_) {
    if (std::find(pass_.trained_.begin(), pass_.trained_.end(), weight.name) ==
        pass_.trained_.end()) {
      continue;
    }
    std::vector<OperandDraft> operands = {{AccessMode::kRead, gradient_of(weight.name, step), {}},
                                          {AccessMode::kUpdate, weight.name, {}}};
    ForwardPass::Attributes attributes = {{"lr", "0.01"}};
    if (options_.optimizer == "adamw") {
      for (const char* moment : {"m_", "v_"}) {
        const std::string name = moment + weight.name;
        if (step == 0) add_tensor(weight, name, InitialKind::kZeros);
        operands.push_back({AccessMode::kUpdate, name, {}});
      }
      attributes.emplace_back("step", std::to_string(step + 1));
    }
    add_dispatch(fmt::format("step_{}.s{}", weight.name, step), options_.optimizer,
                 std::move(operands), std::move(attributes));
  }
}

Result<ProgramDraft> TrainingRun::run() {
  if (auto checked = check_options(); !checked) return checked.error();
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
  for (uint64_t step = 0; step < options_.step_count; ++step) {
    if (step > 0) {
      statements_.items.emplace_back(LifetimeDraft{"", LifetimeKind::kReset, "step", ""});
    }
    for (uint64_t i = 0; i < options_.micro_batch_count; ++i) {
      const uint64_t batch = step * options_.micro_batch_count + i;
      append_batch(batch);
      outputs.tensors.push_back(name_in(pass_.loss_, batch));
      if (is_trained()) add_up_gradients(batch);
    }
    if (is_trained()) append_optimizer(step);
  }
  ProgramDraft draft;
  if (options_.step_count > 1) draft.items.emplace_back(MemoryDraft{"step", 4, false});
  draft.items.insert(draft.items.end(), tensors_.items.begin(), tensors_.items.end());
  draft.items.emplace_back(std::move(outputs));
  draft.items.insert(draft.items.end(), statements_.items.begin(), statements_.items.end());
  return draft;
}

Result<ProgramDraft> ForwardPass::training_run(const WorkloadOptions& options) const {
  return TrainingRun(*this, options).run();
}

}  // namespace interlock
