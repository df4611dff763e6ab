#include "fuzz/generate/program_splits.h"

#include <utility>
#include <variant>
#include <vector>

namespace interlock {

void give_splits(ProgramDraft& draft, Choice& choice) {
  const uint64_t dispatches_per_split = 2 + choice.below(7);
  std::vector<ItemDraft> items;
  for (ItemDraft& item : draft.items) {
    if (std::holds_alternative<DispatchDraft>(item) && choice.chance(1, dispatches_per_split)) {
      items.emplace_back(SyncDraft{});
    }
    items.push_back(std::move(item));
  }
  draft.items = std::move(items);
}

}  // namespace interlock
