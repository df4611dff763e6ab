// The pass over captures: a recording goes with all that replays it, and what only feeds it becomes
// an input. What a replay executes takes its place, unless it names a queue: such a line may be the
// launch of a graph, which statements on other queues would not show.
#include <algorithm>
#include <cstddef>

#include "fuzz/minimize/reduction.h"

namespace interlock {
namespace {

bool replays(const ItemDraft& item, const CaptureDraft& capture) {
  const auto* replay = std::get_if<ReplayDraft>(&item);
  return replay != nullptr && replay->capture == capture.name;
}

bool is_replayed_once_on_no_queue(const ProgramDraft& draft, const CaptureDraft& capture) {
  size_t count = 0;
  for (const ItemDraft& item : draft.items) {
    if (!replays(item, capture)) continue;
    if (++count > 1 || !std::get<ReplayDraft>(item).queue.empty()) return false;
  }
  return count == 1;
}

// The draft without capture number `at` of the items. Replays go too, or what was recorded stands
// in their place.
ProgramDraft without_capture(const ProgramDraft& draft, size_t at, bool keeps_body) {
  const auto& capture = std::get<CaptureDraft>(draft.items[at]);
  size_t end = at;
  while (!std::holds_alternative<EndDraft>(draft.items[end])) ++end;
  ProgramDraft rest;
  for (size_t i = 0; i < draft.items.size(); ++i) {
    if (i >= at && i <= end) continue;
    if (!replays(draft.items[i], capture)) {
      rest.items.push_back(draft.items[i]);
    } else if (keeps_body) {
      rest.items.insert(rest.items.end(), draft.items.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                        draft.items.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }
  return rest;
}

// The draft without the recorded dispatch; what it would write starts with a value.
ProgramDraft without_recorded(const ProgramDraft& draft, size_t at) {
  ProgramDraft rest = draft;
  erase_at(rest.items, at);
  for (TensorDraft* tensor : items_of<TensorDraft>(rest)) {
    if (tensor->initial.kind != InitialKind::kNone) continue;
    if (tensor->dtype != DType::kF32 || tensor->placement == Placement::kView) continue;
    for (const OperandDraft& operand : std::get<DispatchDraft>(draft.items[at]).operands) {
      const bool is_written = operand.name == tensor->name && operand.mode == AccessMode::kWrite;
      if (is_written) tensor->initial = {InitialKind::kRandom, 1};
    }
  }
  return rest;
}

void drop_recorded_producers(Reduction& reduction) {
  bool is_recording = false;
  for (size_t i = reduction.current().items.size(); i-- > 0;) {
    if (reduction.is_over()) return;
    const ItemDraft& item = reduction.current().items[i];
    is_recording |= std::holds_alternative<EndDraft>(item);
    is_recording &= !std::holds_alternative<CaptureDraft>(item);
    const bool is_recorded = is_recording && std::holds_alternative<DispatchDraft>(item);
    if (is_recorded) reduction.attempt(without_recorded(reduction.current(), i));
  }
}

}  // namespace

void drop_captures(Reduction& reduction) {
  size_t count = positions_of<CaptureDraft>(reduction.current()).size();
  while (count-- > 0) {
    if (reduction.is_over()) return;
    const ProgramDraft& draft = reduction.current();
    const size_t at = positions_of<CaptureDraft>(draft)[count];
    const auto& capture = reduction.item<CaptureDraft>(at);
    const bool may_be_spelled_out = is_replayed_once_on_no_queue(draft, capture);
    if (reduction.attempt(without_capture(draft, at, false)) || !may_be_spelled_out) continue;
    reduction.attempt(without_capture(reduction.current(), at, true));
  }
  drop_recorded_producers(reduction);
}

}  // namespace interlock
