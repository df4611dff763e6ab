#include "fuzz/generate/step_sketch.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "fuzz/generate/draft_positions.h"

namespace interlock {

size_t StepSketch::add(TensorDraft draft, StepValue value) {
  draft.name = "t" + std::to_string(values_.size());
  draft.shape = value.shape;
  value.name = draft.name;
  tensors_.push_back(std::move(draft));
  values_.push_back(std::move(value));
  return values_.size() - 1;
}

size_t StepSketch::add_input(const StepShape& shape) {
  return add({.placement = Placement::kUnplaced, .initial = {InitialKind::kRandom, next_seed_++}},
             {.shape = shape, .root = values_.size()});
}

size_t StepSketch::add_output(const StepShape& shape) {
  return add({.placement = Placement::kUnplaced}, {.shape = shape, .root = values_.size()});
}

template <typename Fits>
std::vector<size_t> StepSketch::alive(Fits fits) const {
  std::vector<size_t> indices;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].is_alive && fits(values_[i])) indices.push_back(i);
  }
  return indices;
}

void StepSketch::add_view(const StepShape& shape) {
  const uint64_t count = element_count_of(shape);
  const std::vector<size_t> candidates =
      alive([&](const StepValue& value) { return element_count_of(value.shape) >= count; });
  if (candidates.empty()) return;
  const StepValue& source = values_[candidates[choice_.below(candidates.size())]];
  const uint64_t offset = choice_.below(element_count_of(source.shape) - count + 1);
  add({.placement = Placement::kView, .base = source.name, .offset_bytes = 4 * offset},
      {.shape = shape, .root = source.root, .is_view = true});
}

bool StepSketch::can_donate(size_t donor) const {
  const StepValue& value = values_[donor];
  const bool is_pinned = std::ranges::any_of(
      values_, [&](const StepValue& v) { return v.root == value.root && v.is_pinned; });
  return value.is_alive && !value.is_view && !is_pinned;
}

size_t StepSketch::add_donation(size_t donor) {
  INTERLOCK_CHECK(can_donate(donor));
  end_all_of(donor);
  return add({.placement = Placement::kDonation, .base = values_[donor].name},
             {.shape = values_[donor].shape, .root = values_.size()});
}

void StepSketch::end_all_of(size_t root) {
  for (StepValue& value : values_) {
    if (value.root == root) value.is_alive = false;
  }
}

size_t StepSketch::pick_input(const StepShape& shape) {
  const std::vector<size_t> candidates =
      alive([&](const StepValue& value) { return value.shape == shape; });
  if (candidates.empty() || choice_.chance(1, 8)) return add_input(shape);
  // Half of the reads are of the last two, the others of any: wrong passes lose older values.
  const size_t count = candidates.size();
  const size_t recent = choice_.chance(1, 2) ? std::min<size_t>(count, 2) : count;
  return candidates[count - 1 - choice_.below(recent)];
}

std::optional<size_t> StepSketch::pick_any() {
  const std::vector<size_t> candidates = alive([](const StepValue&) { return true; });
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

DispatchDraft StepSketch::dispatch_of(const std::string& kernel, const StepOperands& operands,
                                      Attributes attributes) const {
  DispatchDraft dispatch{.kernel = kernel, .attributes = std::move(attributes)};
  for (const auto& [mode, value] : operands) {
    dispatch.operands.push_back({mode, values_[value].name, {}});
  }
  return dispatch;
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
