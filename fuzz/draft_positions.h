// Where the items of one kind stand in a draft.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "encoder/draft.h"

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

}  // namespace interlock
