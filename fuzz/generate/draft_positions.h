// Where the items of one kind stand in a draft, and where operands do.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "encoder/program/draft.h"

namespace interlock {

// Returns the positions of all items of type `Item`, rising.
template <typename Item>
std::vector<size_t> positions_of(const ProgramDraft& draft) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < draft.items.size(); ++i) {
    if (std::holds_alternative<Item>(draft.items[i])) positions.push_back(i);
  }
  return positions;
}

// Calls `visit` with every operand of the item: of a dispatch or of a scoped barrier.
template <typename Visit>
void for_each_operand(ItemDraft& item, Visit visit) {
  if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
    for (OperandDraft& operand : dispatch->operands) visit(operand);
  } else if (auto* barrier = std::get_if<BarrierDraft>(&item)) {
    for (DependencyDraft& dependency : barrier->dependencies) {
      for (OperandDraft& operand : dependency.operands) visit(operand);
    }
  }
}

template <typename Visit>
void for_each_operand(ProgramDraft& draft, Visit visit) {
  for (ItemDraft& item : draft.items) for_each_operand(item, visit);
}

}  // namespace interlock
