#include "encoder/backward/backward_values.h"

#include <algorithm>
#include <numeric>

namespace interlock {

bool is_whole(const Program& program, const Tensor& tensor) {
  const Tensor& root = program.tensor(tensor.root);
  return tensor.range == root.range && tensor.dtype == root.dtype;
}

BackwardValues::BackwardValues(const Program& program)
    : program_(program),
      operand_values_(program.accesses.size(), kNone),
      versions_(program.tensors.size()),
      lender_(program.tensors.size()),
      last_written_(program.tensors.size(), kNone) {
  std::iota(lender_.begin(), lender_.end(), uint32_t{0});
  for (const Lifetime& lifetime : program.lifetimes) {
    const bool is_adoption = lifetime.kind == LifetimeKind::kAdopt;
    if (is_adoption) lender_[lifetime.tensor.index] = lifetime.source.index;
  }
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const TensorId root = program.tensors[i].root;
    if (root == TensorId(i)) versions_[i].push_back({add(root, kNone), {}, {}});
  }
  if (program.has_program_order) {
    std::vector<uint32_t> order(program.dispatches.size());
    std::iota(order.begin(), order.end(), uint32_t{0});
    std::ranges::sort(order, {}, [&](uint32_t i) { return program.dispatches[i].order; });
    for (const uint32_t dispatch : order) number_dispatch(dispatch);
    return;
  }
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) number_dispatch(statement.index);
    if (statement.kind == StatementKind::kLifetime) number_adoption(LifetimeId(statement.index));
  }
}

uint32_t BackwardValues::add(TensorId root, uint32_t previous) {
  values_.push_back({root, previous, kNone, {}, {}, true});
  return static_cast<uint32_t>(values_.size() - 1);
}

void BackwardValues::number_dispatch(uint32_t index) {
  const Dispatch& dispatch = program_.dispatches[index];
  const auto accesses = program_.accesses_of(dispatch);
  steps_.push_back({index, kNone, false});
  for (size_t a = 0; a < accesses.size(); ++a) {
    if (!accesses[a].tensor.is_some()) continue;
    operand_values_[dispatch.first_access + a] = versions_[root_of(accesses[a])].back().value;
  }
  for (size_t a = 0; a < accesses.size(); ++a) {
    const Access& access = accesses[a];
    if (access.only_reads() || !access.tensor.is_some()) continue;
    const uint32_t root = root_of(access);
    const uint32_t previous = versions_[root].back().value;
    const bool is_update = access.mode != AccessMode::kWrite || is_read_by(dispatch, root);
    const uint32_t value = add(TensorId(root), previous);
    values_[value].writer = DispatchId(index);
    values_[value].is_only_updated = is_update && values_[previous].is_only_updated;
    versions_[root].push_back({value, DispatchId(index), {}});
    last_written_[lender_[root]] = value;
    operand_values_[dispatch.first_access + a] = value;
  }
}

void BackwardValues::number_adoption(LifetimeId id) {
  const Lifetime& lifetime = program_.lifetimes[id.index];
  if (lifetime.kind != LifetimeKind::kAdopt) return;
  const Tensor& tensor = program_.tensor(lifetime.tensor);
  const Tensor& source = program_.tensor(lifetime.source);
  std::vector<BackwardVersion>& versions = versions_[lifetime.tensor.index];
  uint32_t value = current_of(lifetime.source);
  if (tensor.range != source.range || tensor.dtype != source.dtype) {
    const uint32_t whole = value;
    value = add(lifetime.tensor, kNone);
    values_[value].whole = whole;
    values_[value].adoption = id;
    steps_.push_back({0, value, true});
  }
  versions.push_back({value, {}, id});
}

bool BackwardValues::is_read_by(const Dispatch& dispatch, uint32_t root) const {
  return std::ranges::any_of(program_.accesses_of(dispatch), [&](const Access& access) {
    return access.only_reads() && access.tensor.is_some() && root_of(access) == root;
  });
}

bool BackwardValues::is_overwritten(uint32_t number) const {
  const BackwardValue& value = values_[number];
  const uint32_t last = last_written_[lender_[value.root.index]];
  const uint32_t held = value.whole == kNone ? number : value.whole;
  // First values are there until anything is written.
  if (last == kNone) return false;
  return last != held;
}

}  // namespace interlock
