#include "fuzz/generate/step_sketch.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {
namespace {

uint64_t element_count_of(const StepShape& shape) {
  uint64_t count = 1;
  for (const uint64_t extent : shape) count *= extent;
  return count;
}

}  // namespace

size_t StepSketch::add(TensorDraft draft, StepValue value) {
  draft.name = "t" + std::to_string(values_.size());
  draft.shape = value.shape;
  value.name = draft.name;
  tensors_.push_back(std::move(draft));
  values_.push_back(std::move(value));
  return values_.size() - 1;
}

size_t StepSketch::add_input(const StepShape& shape) {
  TensorDraft draft;
  draft.placement = Placement::kUnplaced;
  draft.initial = {InitialKind::kRandom, next_seed_++};
  return add(std::move(draft), {"", shape, values_.size(), false, true, false});
}

size_t StepSketch::add_output(const StepShape& shape) {
  TensorDraft draft;
  draft.placement = Placement::kUnplaced;
  return add(std::move(draft), {"", shape, values_.size(), false, true, false});
}

void StepSketch::add_view(const StepShape& shape) {
  const uint64_t count = element_count_of(shape);
  std::vector<size_t> candidates;
  for (size_t i = 0; i < values_.size(); ++i) {
    const bool is_large_enough = element_count_of(values_[i].shape) >= count;
    if (values_[i].is_alive && is_large_enough) candidates.push_back(i);
  }
  if (candidates.empty()) return;
  const size_t source = candidates[choice_.below(candidates.size())];
  TensorDraft draft;
  draft.placement = Placement::kView;
  draft.base = values_[source].name;
  draft.offset_bytes = 4 * choice_.below(element_count_of(values_[source].shape) - count + 1);
  add(std::move(draft), {"", shape, values_[source].root, true, true, false});
}

bool StepSketch::can_donate(size_t donor) const {
  const StepValue& value = values_[donor];
  const bool is_pinned = std::any_of(values_.begin(), values_.end(), [&](const StepValue& v) {
    return v.root == value.root && v.is_pinned;
  });
  return value.is_alive && !value.is_view && !is_pinned;
}

size_t StepSketch::add_donation(size_t donor) {
  INTERLOCK_CHECK(can_donate(donor));
  TensorDraft draft;
  draft.placement = Placement::kDonation;
  draft.base = values_[donor].name;
  end_all_of(donor);
  return add(std::move(draft), {"", values_[donor].shape, values_.size(), false, true, false});
}

void StepSketch::end_all_of(size_t root) {
  for (StepValue& value : values_) {
    if (value.root == root) value.is_alive = false;
  }
}

size_t StepSketch::pick_input(const StepShape& shape) {
  std::vector<size_t> candidates;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].is_alive && values_[i].shape == shape) candidates.push_back(i);
  }
  if (candidates.empty() || choice_.chance(1, 8)) return add_input(shape);
  // Half of the reads are of the last two, the others of any: wrong passes lose older values.
  const size_t count = candidates.size();
  const size_t recent = choice_.chance(1, 2) ? std::min<size_t>(count, 2) : count;
  return candidates[count - 1 - choice_.below(recent)];
}

std::optional<size_t> StepSketch::pick_any() {
  std::vector<size_t> candidates;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].is_alive) candidates.push_back(i);
  }
  if (candidates.empty()) return std::nullopt;
  return candidates[choice_.below(candidates.size())];
}

std::optional<size_t> StepSketch::find(const std::string& name) const {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].name == name) return i;
  }
  return std::nullopt;
}

bool StepSketch::is_alive(const std::string& name) const {
  const std::optional<size_t> index = find(name);
  return index && values_[*index].is_alive;
}

void StepSketch::emit(const std::string& kernel,
                      const std::vector<std::pair<AccessMode, size_t>>& operands,
                      std::vector<std::pair<std::string, std::string>> attributes) {
  DispatchDraft dispatch;
  dispatch.kernel = kernel;
  for (const auto& [mode, value] : operands) {
    dispatch.operands.push_back({mode, values_[value].name, {}});
  }
  dispatch.attributes = std::move(attributes);
  emit(std::move(dispatch));
}

void StepSketch::emit(DispatchDraft dispatch) {
  dispatch.label = "d" + std::to_string(dispatch_count_++);
  statements_.emplace_back(std::move(dispatch));
}

void StepSketch::pin(size_t value) {
  values_[value].is_pinned = true;
  statements_.emplace_back(LifetimeDraft{"", LifetimeKind::kPin, values_[value].name, ""});
}

void StepSketch::unpin(size_t value) {
  values_[value].is_pinned = false;
  statements_.emplace_back(LifetimeDraft{"", LifetimeKind::kUnpin, values_[value].name, ""});
}

void StepSketch::free(size_t value) {
  end_all_of(values_[value].root);
  statements_.emplace_back(LifetimeDraft{"", LifetimeKind::kFree, values_[value].name, ""});
}

ProgramDraft StepSketch::finish() {
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].is_pinned) unpin(i);
  }
  ProgramDraft draft;
  if (has_reset_) draft.items.emplace_back(MemoryDraft{"m0", 4, false});
  for (TensorDraft& tensor : tensors_) draft.items.emplace_back(std::move(tensor));
  OutputDraft outputs;
  for (size_t i = values_.size(); i-- > 0;) {
    const bool wants = outputs.tensors.empty() || choice_.chance(1, 6);
    if (values_[i].is_alive && wants) outputs.tensors.push_back(values_[i].name);
  }
  // Without an output every value lives to the end, and no pass may do anything.
  if (!outputs.tensors.empty()) draft.items.emplace_back(std::move(outputs));
  for (ItemDraft& statement : statements_) draft.items.push_back(std::move(statement));
  return draft;
}

}  // namespace interlock
