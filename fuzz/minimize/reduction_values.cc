// Passes that make what is left plainer.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/generate/draft_positions.h"
#include "fuzz/minimize/reduction.h"

namespace interlock {
namespace {

// Generated: a letter and a number, after any number of prefixes `x`.
bool is_generated(const std::string& name, char letter) {
  size_t at = 0;
  while (at < name.size() && name[at] == 'x') ++at;
  if (at + 1 >= name.size() || name[at] != letter) return false;
  return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 1, name.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

// New names by old names, in the order of declaration; empty if some name is a person's choice.
template <typename Item>
std::map<std::string, std::string> fresh_names(const ProgramDraft& draft, char letter) {
  std::map<std::string, std::string> names;
  for (const ItemDraft& item : draft.items) {
    const auto* named = std::get_if<Item>(&item);
    if (named == nullptr) continue;
    if (!is_generated(named->name, letter)) return {};
    names.emplace(named->name, letter + std::to_string(names.size()));
  }
  return names;
}

void rename(std::string& name, const std::map<std::string, std::string>& names) {
  const auto found = names.find(name);
  if (found != names.end()) name = found->second;
}

// Backward passes name the gradient of `w` "d_w".
void add_gradients(std::map<std::string, std::string>& names) {
  const std::map<std::string, std::string> values = names;
  for (const auto& [before, after] : values) names.emplace("d_" + before, "d_" + after);
}

std::set<uint64_t> extents_of(const ProgramDraft& draft) {
  std::set<uint64_t> extents;
  for (const ItemDraft& item : draft.items) {
    if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
      extents.insert(tensor->shape.begin(), tensor->shape.end());
    }
  }
  return extents;
}

}  // namespace

namespace {

// Tries the kernels of earlier dispatches for the one at `at`: one kernel is simpler than two.
bool use_earlier_kernel(Reduction& reduction, size_t at) {
  for (const size_t earlier : positions_of<DispatchDraft>(reduction.current())) {
    if (reduction.is_over()) return false;
    if (earlier >= at) return false;
    ProgramDraft candidate = reduction.current();
    const auto& model = std::get<DispatchDraft>(candidate.items[earlier]);
    auto& dispatch = std::get<DispatchDraft>(candidate.items[at]);
    if (model.kernel == dispatch.kernel || model.operands.size() != dispatch.operands.size()) {
      continue;
    }
    dispatch.kernel = model.kernel;
    dispatch.attributes = model.attributes;
    if (reduction.attempt(std::move(candidate))) return true;
  }
  return false;
}

}  // namespace

void simplify_kernels(Reduction& reduction) {
  for (const size_t at : positions_of<DispatchDraft>(reduction.current())) {
    if (reduction.is_over()) return;
    const auto before = std::get<DispatchDraft>(reduction.current().items[at]);
    ProgramDraft opaque = reduction.current();
    auto& dispatch = std::get<DispatchDraft>(opaque.items[at]);
    const bool was_table = before.kernel.front() >= 'a';
    dispatch.kernel = "Opaque";
    if (was_table) dispatch.attributes.clear();
    if (reduction.attempt(std::move(opaque)) || !was_table) continue;
    if (use_earlier_kernel(reduction, at) || before.operands.size() != 2) continue;
    ProgramDraft copy = reduction.current();
    auto& copying = std::get<DispatchDraft>(copy.items[at]);
    copying.kernel = "copy";
    copying.attributes.clear();
    reduction.attempt(std::move(copy));
  }
}

namespace {

// What the operands of a draft name. Passes over operands declare nothing.
struct Declarations {
  explicit Declarations(const ProgramDraft& draft) {
    for (const ItemDraft& item : draft.items) {
      if (const auto* tensor = std::get_if<TensorDraft>(&item)) tensors.insert(tensor->name);
      if (const auto* memory = std::get_if<MemoryDraft>(&item)) {
        size_of_memory[memory->name] = memory->size_bytes;
      }
    }
  }

  // Whether an operand costs less without its slice.
  bool is_worse_than_whole(const OperandDraft& operand) const {
    if (!operand.slice) return false;
    const auto memory = size_of_memory.find(operand.name);
    return tensors.count(operand.name) > 0 || memory == size_of_memory.end() ||
           memory->second <= operand.slice->size_bytes();
  }

  std::set<std::string> tensors;
  std::map<std::string, uint64_t> size_of_memory;
};

const OperandDraft& operand_of(const Reduction& reduction, size_t at, size_t k) {
  return std::get<DispatchDraft>(reduction.current().items[at]).operands[k];
}

void simplify_mode(Reduction& reduction, size_t at, size_t k) {
  const AccessMode old_mode = operand_of(reduction, at, k).mode;
  if (old_mode == AccessMode::kRead || old_mode == AccessMode::kWrite) return;
  for (const AccessMode mode : {AccessMode::kRead, AccessMode::kWrite}) {
    if (reduction.is_over()) return;
    ProgramDraft plain = reduction.current();
    auto& dispatch = std::get<DispatchDraft>(plain.items[at]);
    dispatch.operands[k].mode = mode;
    std::stable_sort(dispatch.operands.begin(), dispatch.operands.end(), stands_before);
    const bool has_atomic = has_atomics(dispatch);
    if (!has_atomic && old_mode == AccessMode::kAtomic) dispatch.attributes.clear();
    if (reduction.attempt(std::move(plain))) return;
  }
}

}  // namespace

void simplify_operands(Reduction& reduction) {
  for (const size_t at : positions_of<MemoryDraft>(reduction.current())) {
    if (reduction.is_over()) return;
    if (!std::get<MemoryDraft>(reduction.current().items[at]).is_scratch) continue;
    ProgramDraft candidate = reduction.current();
    std::get<MemoryDraft>(candidate.items[at]).is_scratch = false;
    reduction.attempt(std::move(candidate));
  }
  const Declarations declarations(reduction.current());
  for (const size_t at : positions_of<DispatchDraft>(reduction.current())) {
    const size_t count = std::get<DispatchDraft>(reduction.current().items[at]).operands.size();
    for (size_t k = 0; k < count; ++k) {
      // A draft may have very many operands: it is copied only where that changes something.
      if (reduction.is_over()) return;
      if (declarations.is_worse_than_whole(operand_of(reduction, at, k))) {
        ProgramDraft whole = reduction.current();
        std::get<DispatchDraft>(whole.items[at]).operands[k].slice.reset();
        reduction.attempt(std::move(whole));
      }
      if (operand_of(reduction, at, k).is_undeclared) {
        ProgramDraft declared = reduction.current();
        auto& operands = std::get<DispatchDraft>(declared.items[at]).operands;
        operands[k].is_undeclared = false;
        std::stable_sort(operands.begin(), operands.end(), stands_before);
        reduction.attempt(std::move(declared));
      }
      simplify_mode(reduction, at, k);
    }
  }
}

// Leaves as many written values as there are elements.
void fit_values(TensorDraft& tensor) {
  if (tensor.initial.kind != InitialKind::kValues) return;
  uint64_t element_count = 1;
  for (const uint64_t extent : tensor.shape) element_count *= extent;
  const uint64_t value_count = tensor.initial.values.size();
  if (element_count < value_count) tensor.initial.values.resize(element_count);
}

void shrink_shapes(Reduction& reduction) {
  // An extent changes wherever it occurs, so that shapes keep fitting each other.
  for (const uint64_t extent : extents_of(reduction.current())) {
    if (reduction.is_over()) return;
    for (const uint64_t smaller : {uint64_t{1}, uint64_t{2}, extent / 2, extent - 1}) {
      if (reduction.is_over()) return;
      if (smaller == 0 || smaller >= extent) continue;
      ProgramDraft candidate = reduction.current();
      for (ItemDraft& item : candidate.items) {
        if (auto* tensor = std::get_if<TensorDraft>(&item)) {
          std::replace(tensor->shape.begin(), tensor->shape.end(), extent, smaller);
          fit_values(*tensor);
        }
      }
      if (reduction.attempt(std::move(candidate))) break;
    }
  }
  for (const size_t at : positions_of<TensorDraft>(reduction.current())) {
    if (reduction.is_over()) return;
    const size_t rank = std::get<TensorDraft>(reduction.current().items[at]).shape.size();
    for (size_t k = 0; k < rank; ++k) {
      if (reduction.is_over()) return;
      const uint64_t extent = std::get<TensorDraft>(reduction.current().items[at]).shape[k];
      for (const uint64_t smaller : {uint64_t{1}, extent / 2, extent - 1}) {
        if (reduction.is_over()) return;
        if (smaller == 0 || smaller >= extent) continue;
        ProgramDraft candidate = reduction.current();
        auto& tensor = std::get<TensorDraft>(candidate.items[at]);
        tensor.shape[k] = smaller;
        fit_values(tensor);
        if (reduction.attempt(std::move(candidate))) break;
      }
    }
  }
}

void settle_initial_values(Reduction& reduction) {
  uint64_t next_seed = 1;
  for (const size_t at : positions_of<TensorDraft>(reduction.current())) {
    if (reduction.is_over()) return;
    // The cost says whether an initial value is wanted: only where something reads it.
    ProgramDraft without = reduction.current();
    std::get<TensorDraft>(without.items[at]).initial = {};
    reduction.attempt(std::move(without));
    ProgramDraft random = reduction.current();
    std::get<TensorDraft>(random.items[at]).initial = {InitialKind::kRandom, next_seed};
    reduction.attempt(std::move(random));
    const auto& tensor = std::get<TensorDraft>(reduction.current().items[at]);
    next_seed += tensor.initial.kind != InitialKind::kNone;
  }
}

void rename_by_first_use(Reduction& reduction) {
  ProgramDraft candidate = reduction.current();
  const auto memories = fresh_names<MemoryDraft>(candidate, 'm');
  const auto captures = fresh_names<CaptureDraft>(candidate, 'c');
  auto tensors = fresh_names<TensorDraft>(candidate, 't');
  if (!positions_of<BackwardDraft>(candidate).empty()) add_gradients(tensors);
  uint64_t dispatch_count = 0;
  for (ItemDraft& item : candidate.items) {
    if (auto* memory = std::get_if<MemoryDraft>(&item)) {
      rename(memory->name, memories);
    } else if (auto* tensor = std::get_if<TensorDraft>(&item)) {
      rename(tensor->name, tensors);
      rename(tensor->base, tensor->placement == Placement::kPlaced ? memories : tensors);
    } else if (auto* output = std::get_if<OutputDraft>(&item)) {
      for (std::string& name : output->tensors) rename(name, tensors);
    } else if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      const std::string label = "d" + std::to_string(dispatch_count++);
      if (dispatch->label.empty() || is_generated(dispatch->label, 'd')) dispatch->label = label;
    }
    if (auto* capture = std::get_if<CaptureDraft>(&item)) rename(capture->name, captures);
    if (auto* replay = std::get_if<ReplayDraft>(&item)) rename(replay->capture, captures);
    if (auto* backward = std::get_if<BackwardDraft>(&item)) {
      rename(backward->loss, tensors);
      for (std::string& name : backward->wrt) rename(name, tensors);
    }
    if (auto* lifetime = std::get_if<LifetimeDraft>(&item)) {
      rename(lifetime->name, lifetime->kind == LifetimeKind::kReset ? memories : tensors);
      rename(lifetime->source, tensors);
    }
    for_each_operand(item, [&](OperandDraft& operand) {
      // Tensors are looked up first, as the builder does.
      rename(operand.name, tensors.count(operand.name) > 0 ? tensors : memories);
    });
  }
  reduction.attempt(std::move(candidate));
}

}  // namespace interlock
