// Random programs of several queues with destroys anywhere, also where they come too early.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/draft.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/generate/queue_generator.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// A draft of generate_queues(), with more destroys: of a queue or of the host.
inline ProgramDraft draft_with_destroys(Choice& choice) {
  ProgramDraft draft = generate_queues(choice);
  std::vector<std::string> tensors;
  for (const TensorDraft* const tensor : items_of<TensorDraft>(draft)) {
    tensors.push_back(tensor->name);
  }
  if (tensors.empty()) return draft;
  std::vector<std::string> queues = {"", "q0"};
  for (const QueueDraft* const queue : items_of<QueueDraft>(draft)) queues.push_back(queue->name);
  const auto statements =
      positions_of<DispatchDraft, BarrierDraft, LifetimeDraft, SyncDraft, HostAccessDraft>(draft);
  const size_t begin = statements.empty() ? draft.items.size() : statements.front();
  for (int i = 0; i < 3; ++i) {
    LifetimeDraft end;
    end.kind = LifetimeKind::kDestroy;
    end.name = tensors[choice.below(tensors.size())];
    if (choice.chance(1, 2)) end.queue = queues[choice.below(queues.size())];
    const size_t at = begin + choice.below(draft.items.size() - begin + 1);
    insert_at(draft.items, at, ItemDraft(std::move(end)));
  }
  return draft;
}

}  // namespace interlock
