#include "fuzz/generate/program_queues.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace interlock {
namespace {

constexpr size_t kQueuesMax = 4;

}  // namespace

void give_queues(ProgramDraft& draft, Choice& choice) {
  const uint64_t queue_count = 2 + choice.below(kQueuesMax - 1);
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

void settle_beside_host(ProgramDraft& draft) {
  std::vector<std::string> queues;
  std::erase_if(draft.items, [&](const ItemDraft& item) {
    const auto* const queue = std::get_if<QueueDraft>(&item);
    if (queue == nullptr) return false;
    const bool stays = queue->kind == QueueKind::kSerial && queues.size() < kQueuesMax &&
                       std::ranges::count(queues, queue->name) == 0;
    if (stays) queues.push_back(queue->name);
    return !stays;
  });
  size_t next = 0;
  const auto settle = [&](std::string& queue, bool needs_one) {
    if (std::ranges::count(queues, queue) > 0) return;
    queue = needs_one && !queues.empty() ? queues[next++ % queues.size()] : std::string();
  };
  for (ItemDraft& item : draft.items) {
    if (auto* const memory = std::get_if<MemoryDraft>(&item)) memory->atom_bytes = 0;
    if (auto* const dispatch = std::get_if<DispatchDraft>(&item)) settle(dispatch->queue, true);
    if (auto* const split = std::get_if<SyncDraft>(&item)) settle(split->queue, true);
    if (auto* const end = std::get_if<LifetimeDraft>(&item)) settle(end->queue, false);
  }
}

}  // namespace interlock
