#include "fuzz/generate/program_queues.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace interlock {

void give_queues(ProgramDraft& draft, Choice& choice) {
  const uint64_t queue_count = 2 + choice.below(3);
  const auto name_of = [](uint64_t queue) {
    return std::string(1, static_cast<char>('a' + queue));
  };
  std::vector<ItemDraft> items;
  for (uint64_t queue = 0; queue < queue_count; ++queue) {
    items.emplace_back(QueueDraft{name_of(queue), QueueKind::kSerial});
  }
  for (ItemDraft& item : draft.items) {
    const std::string queue = name_of(choice.below(queue_count));
    if (auto* const dispatch = std::get_if<DispatchDraft>(&item)) dispatch->queue = queue;
    if (auto* const split = std::get_if<SyncDraft>(&item)) split->queue = queue;
    auto* const end = std::get_if<LifetimeDraft>(&item);
    if (end != nullptr && choice.chance(1, 3)) end->queue = queue;
    items.push_back(std::move(item));
  }
  draft.items = std::move(items);
}

}  // namespace interlock
