#include "simulator/gradients/gradient_values.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "encoder/program/hash.h"
#include "encoder/program/stop.h"
#include "simulator/gradients/gradient_laws.h"

namespace interlock {

namespace {

struct PlacedAdoption {
  uint32_t place;  // Of the dispatch that it stands before.
  const Lifetime* lifetime;
};

// By place: each right after the dispatch that was issued before it.
std::vector<PlacedAdoption> adoptions_of(const Program& program,
                                         const std::vector<uint32_t>& places) {
  std::vector<PlacedAdoption> adoptions;
  uint32_t place = 0;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) place = places[statement.index] + 1;
    if (statement.kind != StatementKind::kLifetime) continue;
    const Lifetime& lifetime = program.lifetimes[statement.index];
    if (lifetime.kind == LifetimeKind::kAdopt) adoptions.push_back({place, &lifetime});
  }
  std::ranges::stable_sort(adoptions, {}, &PlacedAdoption::place);
  return adoptions;
}

}  // namespace

GradientValues::GradientValues(const Program& program, const std::vector<bool>& is_given)
    : read_(program.accesses.size(), 0),
      left_(program.accesses.size(), 0),
      order_(program.dispatches.size()),
      places_(program.dispatches.size()) {
  std::iota(order_.begin(), order_.end(), uint32_t{0});
  if (program.has_program_order) {
    std::ranges::sort(order_, {}, [&](uint32_t i) { return program.dispatches[i].order; });
  }
  const size_t slot_count = program.tensors.size() + program.memories.size();
  for (size_t i = 0; i < slot_count; ++i) {
    const bool is_tensor = i < program.tensors.size();
    slot_of_.push_back(is_tensor ? program.tensors[i].root.index : static_cast<uint32_t>(i));
    auto value = FieldMatrix::of_numbers([i](uint64_t k) { return splitmix64(4 * i + k); });
    if (is_tensor && is_given[i]) {
      const InitialKind kind = program.tensors[i].initial.kind;
      if (kind == InitialKind::kZeros) value = FieldMatrix();
      if (kind == InitialKind::kOnes) value = FieldMatrix::filled(FieldElement(1));
    }
    current_.push_back(add(value));
  }
  versions_.resize(slot_count);
  roots_in_.resize(program.memories.size());
  for (uint32_t i = 0; i < program.tensors.size(); ++i) {
    if (slot_of_[i] == i) roots_in_[program.tensors[i].memory.index].push_back(i);
  }
  for (uint32_t place = 0; place < order_.size(); ++place) places_[order_[place]] = place;
  const std::vector<PlacedAdoption> adoptions = adoptions_of(program, places_);
  auto next = adoptions.begin();
  for (uint32_t place = 0; place <= order_.size(); ++place) {
    for (; next != adoptions.end() && next->place == place; ++next) {
      adopt(program, *next->lifetime, place);
    }
    if (is_stopped()) return;
    if (place < order_.size()) run(program, place);
  }
}

uint32_t GradientValues::add(const FieldMatrix& value) {
  values_.push_back(value);
  return static_cast<uint32_t>(values_.size() - 1);
}

void GradientValues::adopt(const Program& program, const Lifetime& lifetime, uint32_t place) {
  const Tensor& tensor = program.tensor(lifetime.tensor);
  const Tensor& source = program.tensor(lifetime.source);
  const uint32_t slot = slot_of_[lifetime.tensor.index];
  uint32_t number = current_[slot_of_[lifetime.source.index]];
  if (tensor.dtype != source.dtype || tensor.range.size_bytes() != source.range.size_bytes()) {
    const FieldMatrix whole = values_[number];
    number = add(FieldMatrix::of_numbers(
        [&](size_t k) { return splitmix64(whole.entries[k].value() + slot); }));
  }
  current_[slot] = number;
  versions_[slot].push_back({place, number});
}

void GradientValues::run(const Program& program, uint32_t place) {
  const Dispatch& dispatch = program.dispatches[order_[place]];
  const auto accesses = program.accesses_of(dispatch);
  const auto slot = [&](const Access& access) {
    return access.tensor.is_some()
               ? slot_of_[access.tensor.index]
               : static_cast<uint32_t>(program.tensors.size()) + access.memory.index;
  };
  std::vector<FieldMatrix> read;
  for (size_t i = 0; i < accesses.size(); ++i) {
    const uint32_t number = current_[slot(accesses[i])];
    read_[dispatch.first_access + i] = left_[dispatch.first_access + i] = number;
    read.push_back(values_[number]);
  }
  std::vector<FieldMatrix> written = read;
  evaluate(program, dispatch, read, written);
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (accesses[i].only_reads()) continue;
    const uint32_t number = add(written[i]);
    left_[dispatch.first_access + i] = number;
    current_[slot(accesses[i])] = number;
    versions_[slot(accesses[i])].push_back({place + 1, number});
    if (!accesses[i].tensor.is_some()) overwrite(program, accesses[i], place);
  }
}

// Tensors that held one value hold one again.
void GradientValues::overwrite(const Program& program, const Access& access, uint32_t place) {
  std::map<uint32_t, uint32_t> renewed;  // New values by old ones.
  for (const uint32_t slot : roots_in_[access.memory.index]) {
    const ByteRange& range = program.tensors[slot].range;
    if (range.begin >= access.range.end || access.range.begin >= range.end) continue;
    const auto number = static_cast<uint32_t>(values_.size());
    const auto [known, is_new] = renewed.try_emplace(current_[slot], number);
    if (is_new) {
      add(FieldMatrix::of_numbers(
          [&](uint64_t k) { return splitmix64(~(uint64_t{4} * number + k)); }));
    }
    current_[slot] = known->second;
    versions_[slot].push_back({place + 1, known->second});
  }
}

uint32_t GradientValues::held_at(TensorId tensor, uint32_t place) const {
  const uint32_t slot = slot_of_[tensor.index];
  const std::vector<Version>& versions = versions_[slot];
  const auto next = std::ranges::upper_bound(versions, place, {}, &Version::from);
  return next == versions.begin() ? slot : std::prev(next)->value;  // First values come first.
}

}  // namespace interlock
