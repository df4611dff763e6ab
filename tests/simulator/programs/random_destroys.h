// Random programs of several queues with destroys anywhere, also where they come too early, and
// with what the host says of values while it holds work back.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/draft.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/generate/queue_generator.h"
#include "fuzz/generate/queue_meanings.h"
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

// A draft of draft_with_destroys() whose queues are blocking or legacy-default, but for graphs, and
// of which one waits for a signal that comes later.
inline ProgramDraft draft_with_joined_ends(Choice& choice) {
  ProgramDraft draft = draft_with_destroys(choice);
  std::vector<std::string> queues = {"q0"};
  for (QueueDraft* const queue : items_of<QueueDraft>(draft)) {
    queues.push_back(queue->name);
    if (queue->kind == QueueKind::kGraph) continue;
    queue->kind = choice.chance(1, 2) ? QueueKind::kLegacyDefault : QueueKind::kSerialBlocking;
  }
  const auto statements =
      positions_of<DispatchDraft, BarrierDraft, LifetimeDraft, SyncDraft, HostAccessDraft>(draft);
  if (statements.empty()) return draft;
  SyncDraft wait;
  wait.kind = SyncKind::kWait;
  wait.semaphores = {{"held", 1}};
  wait.queue = queues[choice.below(queues.size())];
  SyncDraft signal = wait;
  signal.kind = SyncKind::kSignal;
  signal.queue = queues[choice.below(queues.size())];
  const size_t at = statements[choice.below(statements.size())];
  insert_at(draft.items, at, ItemDraft(std::move(wait)));
  insert_at(draft.items, at + 1 + choice.below(draft.items.size() - at),
            ItemDraft(std::move(signal)));
  return draft;
}

// A draft with all meanings of generated ones (queue_meanings.h), in which a queue waits for a
// signal of the host that comes later, and the host pins, frees, destroys and resets anywhere.
inline ProgramDraft draft_held_back(Choice& choice) {
  ProgramDraft draft = generate_queues(choice);
  add_queue_meanings(draft, choice);
  std::vector<std::string> tensors;
  for (const TensorDraft* const tensor : items_of<TensorDraft>(draft)) {
    if (tensor->placement != Placement::kUnplaced) tensors.push_back(tensor->name);
  }
  std::vector<std::string> queues = {"q0"};
  for (const QueueDraft* const queue : items_of<QueueDraft>(draft)) queues.push_back(queue->name);
  const auto statements =
      positions_of<DispatchDraft, BarrierDraft, LifetimeDraft, SyncDraft, HostAccessDraft>(draft);
  const bool has_capture = !items_of<CaptureDraft>(draft).empty();
  if (tensors.empty() || statements.empty() || has_capture) return draft;
  // Inserts it at or after `begin`; returns the place after it.
  const auto insert = [&](size_t begin, ItemDraft item) {
    const size_t at = begin + choice.below(draft.items.size() - begin + 1);
    insert_at(draft.items, at, std::move(item));
    return at + 1;
  };
  const size_t begin = statements.front();
  SyncDraft wait;
  wait.kind = SyncKind::kWait;
  wait.semaphores = {{"held", 1}};
  wait.queue = queues[choice.below(queues.size())];
  SyncDraft signal = wait;
  signal.kind = SyncKind::kHostSignals;
  signal.queue.clear();
  insert(insert(begin, ItemDraft(wait)), ItemDraft(signal));
  for (int i = 0; i < 3; ++i) {
    const std::string& tensor = tensors[choice.below(tensors.size())];
    const bool is_pinned = choice.chance(1, 2);
    size_t at = begin;
    if (is_pinned) at = insert(at, LifetimeDraft{"", LifetimeKind::kPin, tensor, "", ""});
    const LifetimeKind kind = choice.chance(1, 3) ? LifetimeKind::kFree : LifetimeKind::kDestroy;
    at = insert(at, LifetimeDraft{"", kind, tensor, "", ""});
    if (is_pinned) insert(at, LifetimeDraft{"", LifetimeKind::kUnpin, tensor, "", ""});
  }
  return draft;
}

}  // namespace interlock
