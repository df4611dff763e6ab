// Passes that make what is left plainer.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

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
  for (const Item* named : items_of<Item>(draft)) {
    if (!is_generated(named->name, letter)) return {};
    names.emplace(named->name, letter + std::to_string(names.size()));
  }
  return names;
}

// Backward passes name the gradient of `w` "d_w".
void add_gradients(std::map<std::string, std::string>& names) {
  const std::map<std::string, std::string> values = names;
  for (const auto& [before, after] : values) names.emplace("d_" + before, "d_" + after);
}

std::set<uint64_t> extents_of(const ProgramDraft& draft) {
  std::set<uint64_t> extents;
  for (const TensorDraft* tensor : items_of<TensorDraft>(draft)) {
    extents.insert(tensor->shape.begin(), tensor->shape.end());
  }
  return extents;
}

// Tries the kernels of earlier dispatches for the one at `at`: one kernel is simpler than two.
bool use_earlier_kernel(Reduction& reduction, size_t at) {
  for (const size_t earlier : positions_of<DispatchDraft>(reduction.current())) {
    if (earlier >= at) return false;
    const auto& model = reduction.item<DispatchDraft>(earlier);
    const auto& dispatch = reduction.item<DispatchDraft>(at);
    const bool is_model =
        model.kernel != dispatch.kernel && model.operands.size() == dispatch.operands.size();
    const bool is_used =
        is_model && reduction.attempt_change<DispatchDraft>(at, [&](DispatchDraft& changed) {
          changed.kernel = model.kernel;
          changed.attributes = model.attributes;
        });
    if (is_used) return true;
  }
  return false;
}

// What the operands of a draft name. Passes over operands declare nothing.
struct Declarations {
  explicit Declarations(const ProgramDraft& draft) {
    for (const TensorDraft* tensor : items_of<TensorDraft>(draft)) tensors.insert(tensor->name);
    for (const MemoryDraft* memory : items_of<MemoryDraft>(draft)) {
      size_of_memory[memory->name] = memory->size_bytes;
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
  return reduction.item<DispatchDraft>(at).operands[k];
}

void simplify_mode(Reduction& reduction, size_t at, size_t k) {
  const AccessMode old_mode = operand_of(reduction, at, k).mode;
  if (old_mode == AccessMode::kRead || old_mode == AccessMode::kWrite) return;
  for (const AccessMode mode : {AccessMode::kRead, AccessMode::kWrite}) {
    const auto simplify = [&](DispatchDraft& dispatch) {
      dispatch.operands[k].mode = mode;
      std::ranges::stable_sort(dispatch.operands, stands_before);
      if (!has_atomics(dispatch) && old_mode == AccessMode::kAtomic) dispatch.attributes.clear();
    };
    if (reduction.attempt_change<DispatchDraft>(at, simplify)) return;
  }
}

// Leaves as many written values as there are elements.
void fit_values(TensorDraft& tensor) {
  if (tensor.initial.kind != InitialKind::kValues) return;
  const uint64_t element_count = element_count_of(tensor.shape);
  const uint64_t value_count = tensor.initial.values.size();
  if (element_count < value_count) tensor.initial.values.resize(element_count);
}

}  // namespace

void simplify_kernels(Reduction& reduction) {
  reduction.for_each<DispatchDraft>([&](size_t at) {
    const auto& before = reduction.item<DispatchDraft>(at);
    const size_t operand_count = before.operands.size();
    const bool was_table = before.kernel.front() >= 'a';
    if (!was_table && reduction.keeps_names()) return;
    const auto attempt = [&](const std::string& kernel) {
      return reduction.attempt_change<DispatchDraft>(at, [&](DispatchDraft& dispatch) {
        dispatch.kernel = kernel;
        if (was_table) dispatch.attributes.clear();
      });
    };
    if (attempt("Opaque") || !was_table) return;
    if (!use_earlier_kernel(reduction, at) && operand_count == 2) attempt("copy");
  });
}

void simplify_operands(Reduction& reduction) {
  reduction.for_each<MemoryDraft>([&](size_t at) {
    if (!reduction.item<MemoryDraft>(at).is_scratch) return;
    reduction.attempt_change<MemoryDraft>(at,
                                          [](MemoryDraft& memory) { memory.is_scratch = false; });
  });
  const Declarations declarations(reduction.current());
  reduction.for_each<DispatchDraft>([&](size_t at) {
    const size_t count = reduction.item<DispatchDraft>(at).operands.size();
    for (size_t k = 0; k < count; ++k) {
      // A draft may have very many operands: it is copied only where that changes something.
      if (declarations.is_worse_than_whole(operand_of(reduction, at, k))) {
        reduction.attempt_change<DispatchDraft>(
            at, [k](DispatchDraft& dispatch) { dispatch.operands[k].slice.reset(); });
      }
      if (operand_of(reduction, at, k).is_undeclared) {
        reduction.attempt_change<DispatchDraft>(at, [k](DispatchDraft& dispatch) {
          dispatch.operands[k].is_undeclared = false;
          std::ranges::stable_sort(dispatch.operands, stands_before);
        });
      }
      simplify_mode(reduction, at, k);
    }
  });
}

void shrink_shapes(Reduction& reduction) {
  // An extent changes wherever it occurs, so that shapes keep fitting each other.
  for (const uint64_t extent : extents_of(reduction.current())) {
    for (const uint64_t smaller : {uint64_t{1}, uint64_t{2}, extent / 2, extent - 1}) {
      if (reduction.is_over()) return;
      if (smaller == 0 || smaller >= extent) continue;
      ProgramDraft candidate = reduction.current();
      for (TensorDraft* tensor : items_of<TensorDraft>(candidate)) {
        std::ranges::replace(tensor->shape, extent, smaller);
        fit_values(*tensor);
      }
      if (reduction.attempt(std::move(candidate))) break;
    }
  }
  reduction.for_each<TensorDraft>([&](size_t at) {
    const size_t rank = reduction.item<TensorDraft>(at).shape.size();
    for (size_t k = 0; k < rank; ++k) {
      const uint64_t extent = reduction.item<TensorDraft>(at).shape[k];
      for (const uint64_t smaller : {uint64_t{1}, extent / 2, extent - 1}) {
        if (smaller == 0 || smaller >= extent) continue;
        const auto shrink = [&](TensorDraft& tensor) {
          tensor.shape[k] = smaller;
          fit_values(tensor);
        };
        if (reduction.attempt_change<TensorDraft>(at, shrink)) break;
      }
    }
  });
}

void settle_initial_values(Reduction& reduction) {
  uint64_t next_seed = 1;
  reduction.for_each<TensorDraft>([&](size_t at) {
    // The cost says whether an initial value is wanted: only where something reads it.
    for (const InitialValue& initial :
         {InitialValue{}, InitialValue{InitialKind::kRandom, next_seed}}) {
      reduction.attempt_change<TensorDraft>(at,
                                            [&](TensorDraft& tensor) { tensor.initial = initial; });
    }
    next_seed += reduction.item<TensorDraft>(at).initial.kind != InitialKind::kNone;
  });
}

void rename_by_first_use(Reduction& reduction) {
  if (reduction.keeps_names()) return;
  ProgramDraft candidate = reduction.current();
  const auto memories = fresh_names<MemoryDraft>(candidate, 'm');
  const auto captures = fresh_names<CaptureDraft>(candidate, 'c');
  auto tensors = fresh_names<TensorDraft>(candidate, 't');
  if (!positions_of<BackwardDraft>(candidate).empty()) add_gradients(tensors);
  for (ItemDraft& item : candidate.items) {
    for_each_name(item, [&](std::string& name, NameKind kind) {
      // Tensors are looked up first, as the builder does.
      const bool is_memory = kind == NameKind::kMemory ||
                             (kind == NameKind::kMemoryOrTensor && tensors.count(name) == 0);
      const auto& names = kind == NameKind::kCapture ? captures : is_memory ? memories : tensors;
      const auto renamed = names.find(name);
      if (renamed != names.end()) name = renamed->second;
    });
  }
  uint64_t dispatch_count = 0;
  for (DispatchDraft* dispatch : items_of<DispatchDraft>(candidate)) {
    const std::string label = "d" + std::to_string(dispatch_count++);
    if (dispatch->label.empty() || is_generated(dispatch->label, 'd')) dispatch->label = label;
  }
  reduction.attempt(std::move(candidate));
}

}  // namespace interlock
