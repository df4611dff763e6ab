// Passes that leave things out. They run first: what is gone need not be simplified.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/draft_positions.h"
#include "fuzz/reduction.h"

namespace interlock {
namespace {

std::vector<size_t> statement_positions(const ProgramDraft& draft) {
  std::vector<size_t> positions = positions_of<DispatchDraft>(draft);
  const std::vector<size_t> barriers = positions_of<BarrierDraft>(draft);
  positions.insert(positions.end(), barriers.begin(), barriers.end());
  std::sort(positions.begin(), positions.end());
  return positions;
}

// `draft` without the items at positions[begin, end).
ProgramDraft without(const ProgramDraft& draft, const std::vector<size_t>& positions, size_t begin,
                     size_t end) {
  ProgramDraft rest;
  rest.items.reserve(draft.items.size());
  for (size_t i = 0; i < draft.items.size(); ++i) {
    const bool is_dropped =
        std::binary_search(positions.begin() + static_cast<std::ptrdiff_t>(begin),
                           positions.begin() + static_cast<std::ptrdiff_t>(end), i);
    if (!is_dropped) rest.items.push_back(draft.items[i]);
  }
  return rest;
}

// Keeps what the statements refer to, directly or through views and donations.
ProgramDraft only_used(const ProgramDraft& draft) {
  std::set<std::string> used;
  for (const ItemDraft& item : draft.items) {
    if (const auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      for (const OperandDraft& operand : dispatch->operands) used.insert(operand.name);
    } else if (const auto* output = std::get_if<OutputDraft>(&item)) {
      used.insert(output->tensors.begin(), output->tensors.end());
    }
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
  std::reverse(rest.items.begin(), rest.items.end());
  return rest;
}

bool has_table_kernel(const DispatchDraft& dispatch) {
  return !dispatch.kernel.empty() && dispatch.kernel.front() >= 'a';
}

}  // namespace

void drop_statements(Reduction& reduction) {
  size_t chunk = std::max<size_t>(1, statement_positions(reduction.current()).size() / 2);
  while (!reduction.is_over()) {
    bool has_dropped = false;
    // From the back: what comes later depends on what comes earlier.
    size_t end = statement_positions(reduction.current()).size();
    while (end > 0) {
      const std::vector<size_t> positions = statement_positions(reduction.current());
      end = std::min(end, positions.size());
      const size_t begin = end - std::min(chunk, end);
      has_dropped |= reduction.attempt(without(reduction.current(), positions, begin, end));
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
  if (reduction.attempt(without(reduction.current(), lines, 0, lines.size()))) return;
  for (size_t i = lines.size(); i-- > 0;) {
    if (reduction.attempt(without(reduction.current(), lines, i, i + 1))) continue;
    const size_t count = std::get<OutputDraft>(reduction.current().items[lines[i]]).tensors.size();
    for (size_t k = count; k-- > 0;) {
      ProgramDraft candidate = reduction.current();
      auto& tensors = std::get<OutputDraft>(candidate.items[lines[i]]).tensors;
      if (tensors.size() == 1) break;
      tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(k));
      reduction.attempt(std::move(candidate));
    }
  }
}

void drop_declarations(Reduction& reduction) { reduction.attempt(only_used(reduction.current())); }

void drop_operands(Reduction& reduction) {
  // `order=` stands on all dispatches or on none.
  ProgramDraft unordered = reduction.current();
  for (ItemDraft& item : unordered.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) dispatch->order.reset();
  }
  reduction.attempt(std::move(unordered));
  for (const size_t at : positions_of<DispatchDraft>(reduction.current())) {
    const auto dispatch_of = [at](ProgramDraft& draft) -> DispatchDraft& {
      return std::get<DispatchDraft>(draft.items[at]);
    };
    ProgramDraft plain = reduction.current();
    dispatch_of(plain).is_partial = false;
    reduction.attempt(std::move(plain));
    ProgramDraft bare = reduction.current();
    dispatch_of(bare).attributes.clear();
    reduction.attempt(std::move(bare));
    if (has_table_kernel(std::get<DispatchDraft>(reduction.current().items[at]))) continue;
    for (size_t k = std::get<DispatchDraft>(reduction.current().items[at]).operands.size();
         k-- > 0;) {
      ProgramDraft candidate = reduction.current();
      auto& operands = dispatch_of(candidate).operands;
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(k));
      if (reduction.attempt(std::move(candidate))) continue;
      candidate = reduction.current();  // The last atomic takes `atomic=` along.
      dispatch_of(candidate).operands.erase(dispatch_of(candidate).operands.begin() +
                                            static_cast<std::ptrdiff_t>(k));
      dispatch_of(candidate).attributes.clear();
      reduction.attempt(std::move(candidate));
    }
  }
}

// Operands take the root in place of a view; a donation becomes a tensor at the same place.
void drop_sources(Reduction& reduction) {
  for (const size_t at : positions_of<TensorDraft>(reduction.current())) {
    const auto tensor = std::get<TensorDraft>(reduction.current().items[at]);
    if (tensor.placement == Placement::kPlaced) continue;
    uint64_t offset_bytes = tensor.placement == Placement::kView ? tensor.offset_bytes : 0;
    std::string base = tensor.base;
    for (size_t i = at; i-- > 0;) {
      const auto* source = std::get_if<TensorDraft>(&reduction.current().items[i]);
      if (source == nullptr || source->name != base) continue;
      if (source->placement != Placement::kDonation) offset_bytes += source->offset_bytes;
      base = source->base;
    }
    ProgramDraft candidate = reduction.current();
    auto& placed = std::get<TensorDraft>(candidate.items[at]);
    placed.placement = Placement::kPlaced;
    placed.base = base;
    placed.offset_bytes = offset_bytes;
    if (reduction.attempt(std::move(candidate))) continue;
    candidate = reduction.current();
    for (ItemDraft& item : candidate.items) {
      auto* dispatch = std::get_if<DispatchDraft>(&item);
      if (dispatch == nullptr) continue;
      for (OperandDraft& operand : dispatch->operands) {
        if (operand.name == tensor.name) operand.name = tensor.base;
      }
    }
    if (reduction.attempt(only_used(candidate))) return;  // Positions have moved; come again.
  }
}

}  // namespace interlock
