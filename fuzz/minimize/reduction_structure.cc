// Passes that leave things out. They run first: what is gone need not be simplified.
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/minimize/reduction.h"
#include "fuzz/minimize/without_items.h"

namespace interlock {
namespace {

std::vector<size_t> statement_positions(const ProgramDraft& draft) {
  return positions_of<DispatchDraft, BarrierDraft, LifetimeDraft, ReplayDraft, BackwardDraft,
                      SyncDraft, HostAccessDraft>(draft);
}

// Keeps what the statements refer to, directly or through views and donations.
ProgramDraft only_used(ProgramDraft draft) {
  std::set<std::string> used;
  for (ItemDraft& item : draft.items) {
    const bool is_declaration = holds_any<MemoryDraft, TensorDraft>(item);
    for_each_name(item, [&](const std::string& name, NameKind kind) {
      if (!is_declaration && kind != NameKind::kCapture) used.insert(name);
    });
  }
  ProgramDraft rest;
  for (size_t i = draft.items.size(); i-- > 0;) {  // A base stands before what refers to it.
    const ItemDraft& item = draft.items[i];
    if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
      if (used.count(tensor->name) == 0) continue;
      used.insert(tensor->base);
    } else if (const auto* memory = std::get_if<MemoryDraft>(&item)) {
      if (used.count(memory->name) == 0) continue;
    }
    rest.items.push_back(item);
  }
  std::ranges::reverse(rest.items);
  return rest;
}

bool has_table_kernel(const DispatchDraft& dispatch) {
  return !dispatch.kernel.empty() && dispatch.kernel.front() >= 'a';
}

// `draft` without the dispatch at `at`, and with output `from` moved to what it was made of, `to`.
ProgramDraft with_output_moved(const ProgramDraft& draft, size_t at, const std::string& from,
                               const std::string& to) {
  ProgramDraft candidate = draft;
  for (ItemDraft& item : candidate.items) {
    if (auto* output = std::get_if<OutputDraft>(&item)) {
      std::ranges::replace(output->tensors, from, to);
    } else if (auto* backward = std::get_if<BackwardDraft>(&item)) {
      if (backward->loss == from) backward->loss = to;
    }
  }
  erase_at(candidate.items, at);
  return candidate;
}

// The loss of a backward pass counts as one.
bool is_output(const ProgramDraft& draft, const std::string& name) {
  return std::ranges::any_of(draft.items, [&](const ItemDraft& item) {
    const auto* backward = std::get_if<BackwardDraft>(&item);
    if (backward != nullptr && backward->loss == name) return true;
    const auto* output = std::get_if<OutputDraft>(&item);
    return output != nullptr && std::ranges::find(output->tensors, name) != output->tensors.end();
  });
}

// `draft` without the dispatch at `at`: what it writes is an input instead, unlike the others.
ProgramDraft with_inputs_for(const ProgramDraft& draft, size_t at) {
  ProgramDraft candidate = draft;
  uint64_t seed = 1;
  for (const TensorDraft* tensor : items_of<TensorDraft>(draft)) {
    if (tensor->initial.kind != InitialKind::kRandom) continue;
    seed = std::max(seed, tensor->initial.seed + 1);
  }
  for (const OperandDraft& operand : std::get<DispatchDraft>(draft.items[at]).operands) {
    if (operand.mode != AccessMode::kWrite) continue;
    for (TensorDraft* tensor : items_of<TensorDraft>(candidate)) {
      if (tensor->name == operand.name) tensor->initial = {InitialKind::kRandom, seed, {}};
    }
  }
  erase_at(candidate.items, at);
  return candidate;
}

// `draft` without the dispatch at `at`: what reads its result `from` reads its operand `to`
// instead.
ProgramDraft with_reads_moved(const ProgramDraft& draft, size_t at, const std::string& from,
                              const std::string& to) {
  ProgramDraft candidate = draft;
  for (DispatchDraft* dispatch : items_of<DispatchDraft>(candidate)) {
    for (OperandDraft& operand : dispatch->operands) {
      if (operand.mode == AccessMode::kRead && operand.name == from) operand.name = to;
    }
  }
  erase_at(candidate.items, at);
  return candidate;
}

// Tries to leave out the dispatch at `at` of the current draft: something that it reads takes the
// place of something that it writes, as `moved` has it. With `is_of_output` what it writes is an
// output, and what it reads is none. Returns whether the dispatch is gone.
bool move_over(Reduction& reduction, size_t at, decltype(with_output_moved)& moved,
               bool is_of_output) {
  const auto dispatch = reduction.item<DispatchDraft>(at);
  const auto has_other_part = [&](const OperandDraft& operand, bool is_written) {
    return is_of_output && is_output(reduction.current(), operand.name) != is_written;
  };
  for (const OperandDraft& written : dispatch.operands) {
    if (reduction.is_over()) return false;
    if (written.mode != AccessMode::kWrite || has_other_part(written, true)) continue;
    for (const OperandDraft& read : dispatch.operands) {
      if (reduction.is_over()) return false;
      if (read.mode != AccessMode::kRead || has_other_part(read, false)) continue;
      if (reduction.attempt(moved(reduction.current(), at, written.name, read.name))) return true;
    }
  }
  return false;
}

// True iff the draft has something to differentiate or to place.
bool needs_pass(const ProgramDraft& draft) {
  if (!positions_of<BackwardDraft>(draft).empty()) return true;
  const auto tensors = items_of<TensorDraft>(draft);
  return std::ranges::find(tensors, Placement::kUnplaced, &TensorDraft::placement) != tensors.end();
}

// Where the bytes of tensor number `at` of the items lie.
struct Place {
  std::string memory;  // Empty: in the memory of an unplaced tensor, which nothing can name.
  uint64_t offset_bytes = 0;
};

Place place_of(const ProgramDraft& draft, size_t at) {
  const auto& tensor = std::get<TensorDraft>(draft.items[at]);
  Place place{tensor.base, tensor.offset_bytes};
  if (tensor.placement == Placement::kPlaced || tensor.placement == Placement::kUnplaced) {
    return place;
  }
  if (tensor.placement == Placement::kDonation) place.offset_bytes = 0;
  for (size_t i = at; i-- > 0;) {
    const auto* source = std::get_if<TensorDraft>(&draft.items[i]);
    if (source == nullptr || source->name != tensor.base) continue;
    const Place base = place_of(draft, i);
    return {base.memory, base.offset_bytes + place.offset_bytes};
  }
  return place;
}

// The donation as a tensor at the same place, or unplaced if that place has no name.
ProgramDraft with_placed_donation(const ProgramDraft& draft, size_t at) {
  const Place place = place_of(draft, at);
  ProgramDraft candidate = draft;
  auto& tensor = std::get<TensorDraft>(candidate.items[at]);
  tensor.placement = place.memory.empty() ? Placement::kUnplaced : Placement::kPlaced;
  tensor.base = place.memory;
  tensor.offset_bytes = place.memory.empty() ? 0 : place.offset_bytes;
  return candidate;
}

ProgramDraft with_root_for_view(const ProgramDraft& draft, size_t at) {
  const auto& view = std::get<TensorDraft>(draft.items[at]);
  ProgramDraft candidate = draft;
  for_each_operand(candidate, [&](OperandDraft& operand) {
    if (operand.name == view.name) operand.name = view.base;
  });
  return only_used(candidate);
}

// The view as an input of its own, after everything else in its memory: at its old place it would
// be a value that nobody wrote.
ProgramDraft with_input_for_view(const ProgramDraft& draft, size_t at) {
  const Place place = place_of(draft, at);
  ProgramDraft candidate = draft;
  auto& tensor = std::get<TensorDraft>(candidate.items[at]);
  for (MemoryDraft* memory : items_of<MemoryDraft>(candidate)) {
    if (memory->name != place.memory) continue;
    const uint64_t alignment_bytes = size_bytes_of(tensor.dtype);
    tensor.placement = Placement::kPlaced;
    tensor.base = memory->name;
    tensor.offset_bytes =
        (memory->size_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
    memory->size_bytes = tensor.offset_bytes + alignment_bytes * element_count_of(tensor.shape);
  }
  if (place.memory.empty()) {
    tensor.placement = Placement::kUnplaced;
    tensor.base.clear();
    tensor.offset_bytes = 0;
  }
  if (tensor.dtype == DType::kF32) tensor.initial = {InitialKind::kRandom, 1};
  return only_used(candidate);
}

}  // namespace

void drop_statements(Reduction& reduction) {
  size_t chunk = std::max<size_t>(1, statement_positions(reduction.current()).size() / 2);
  while (!reduction.is_over()) {
    bool has_dropped = false;
    // From the back: what comes later depends on what comes earlier.
    size_t end = statement_positions(reduction.current()).size();
    while (end > 0) {
      if (reduction.is_over()) return;
      const std::vector<size_t> positions = statement_positions(reduction.current());
      end = std::min(end, positions.size());
      const size_t begin = end - std::min(chunk, end);
      const auto dropped = std::span(positions).subspan(begin, end - begin);
      has_dropped |= reduction.attempt(without_items(reduction.current(), dropped));
      end = begin;
    }
    if (chunk > 1) {
      chunk /= 2;
    } else if (!has_dropped) {
      return;
    }
  }
}

void drop_outputs(Reduction& reduction) {
  const std::vector<size_t> lines = positions_of<OutputDraft>(reduction.current());
  if (lines.empty()) return;
  if (reduction.attempt(without_items(reduction.current(), lines))) return;
  for (size_t i = lines.size(); i-- > 0;) {
    if (reduction.is_over()) return;
    const auto line = std::span(lines).subspan(i, 1);
    if (reduction.attempt(without_items(reduction.current(), line))) continue;
    reduction.drop_elements<OutputDraft>(lines[i], &OutputDraft::tensors, 1);
  }
}

void move_outputs(Reduction& reduction) {
  reduction.for_each<BackwardDraft>(
      [&](size_t at) { reduction.drop_elements<BackwardDraft>(at, &BackwardDraft::wrt, 1); });
  const std::vector<size_t> positions = positions_of<DispatchDraft>(reduction.current());
  // A fault of a pass mostly shows with inputs as well. A hazard needs the dispatch that writes.
  const bool is_about_pass = needs_pass(reduction.current());
  // From the back, so that the positions that are left still hold.
  for (size_t i = positions.size(); i-- > 0;) {
    if (reduction.is_over()) return;
    const bool is_gone = move_over(reduction, positions[i], with_output_moved, true);
    if (is_gone || !is_about_pass) continue;
    reduction.attempt(with_inputs_for(reduction.current(), positions[i]));
  }
  if (positions_of<BackwardDraft>(reduction.current()).empty()) return;
  // Those between others on the way of a gradient: x @ w @ w is left of x @ a @ w @ w, and of
  // x @ w @ a @ w.
  const std::vector<size_t> left = positions_of<DispatchDraft>(reduction.current());
  for (size_t i = left.size(); i-- > 0;) move_over(reduction, left[i], with_reads_moved, false);
}

void drop_declarations(Reduction& reduction) { reduction.attempt(only_used(reduction.current())); }

void drop_operands(Reduction& reduction) {
  // `order=` stands on all dispatches or on none.
  ProgramDraft unordered = reduction.current();
  for (DispatchDraft* dispatch : items_of<DispatchDraft>(unordered)) dispatch->order.reset();
  reduction.attempt(std::move(unordered));
  reduction.for_each<DispatchDraft>([&](size_t at) {
    const auto attempt = [&](auto change) {
      return reduction.attempt_change<DispatchDraft>(at, change);
    };
    attempt([](DispatchDraft& dispatch) { dispatch.is_partial = false; });
    attempt([](DispatchDraft& dispatch) { dispatch.is_approximate = false; });
    attempt([](DispatchDraft& dispatch) { dispatch.stage = Stage::kCompute; });
    attempt([](DispatchDraft& dispatch) { dispatch.attributes.clear(); });
    if (has_table_kernel(reduction.item<DispatchDraft>(at))) return;
    for (size_t k = reduction.item<DispatchDraft>(at).operands.size(); k-- > 0;) {
      if (attempt([k](DispatchDraft& dispatch) { erase_at(dispatch.operands, k); })) continue;
      attempt([k](DispatchDraft& dispatch) {  // The last atomic takes `atomic=` along.
        erase_at(dispatch.operands, k);
        dispatch.attributes.clear();
      });
    }
  });
}

void drop_sources(Reduction& reduction) {
  for (const size_t at : positions_of<TensorDraft>(reduction.current())) {
    if (reduction.is_over()) return;
    const Placement placement = reduction.item<TensorDraft>(at).placement;
    if (placement == Placement::kDonation) {
      reduction.attempt(with_placed_donation(reduction.current(), at));
    } else if (placement == Placement::kView) {
      const bool has_moved_items = reduction.attempt(with_root_for_view(reduction.current(), at)) ||
                                   reduction.attempt(with_input_for_view(reduction.current(), at));
      if (has_moved_items) return;  // Positions no longer hold; the passes come again.
    }
  }
}

}  // namespace interlock
