// Passes over what queues have. Whole statements go in drop_statements().
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuzz/minimize/reduction.h"

namespace interlock {
namespace {

// A program that still uses the name does not build without it.
void drop_unused_names(Reduction& reduction) {
  const std::vector<size_t> positions =
      positions_of<QueueDraft, SemaphoreDraft>(reduction.current());
  for (size_t k = positions.size(); k-- > 0;) {
    ProgramDraft candidate = reduction.current();
    erase_at(candidate.items, positions[k]);
    reduction.attempt(std::move(candidate));
  }
}

// One after another, as each may be what the finding needs.
void drop_edges(Reduction& reduction) {
  reduction.for_each<DispatchDraft>([&](size_t at) {
    reduction.drop_elements<DispatchDraft>(at, &DispatchDraft::after);
    if (!reduction.item<DispatchDraft>(at).is_programmatic) return;
    reduction.attempt_change<DispatchDraft>(
        at, [](DispatchDraft& dispatch) { dispatch.is_programmatic = false; });
  });
}

void move_to_default_queue(Reduction& reduction) {
  reduction.for_each<DispatchDraft>([&](size_t at) {
    if (reduction.item<DispatchDraft>(at).queue.empty()) return;
    reduction.attempt_change<DispatchDraft>(
        at, [](DispatchDraft& dispatch) { dispatch.queue.clear(); });
  });
  reduction.for_each<BarrierDraft>([&](size_t at) {
    if (reduction.item<BarrierDraft>(at).queue.empty()) return;
    reduction.attempt_change<BarrierDraft>(at,
                                           [](BarrierDraft& barrier) { barrier.queue.clear(); });
  });
  reduction.for_each<SyncDraft>([&](size_t at) {
    if (reduction.item<SyncDraft>(at).queue.empty()) return;
    reduction.attempt_change<SyncDraft>(at, [](SyncDraft& sync) { sync.queue.clear(); });
  });
}

bool is_replayed_on(const ProgramDraft& draft, const std::string& queue) {
  return std::ranges::any_of(draft.items, [&](const ItemDraft& item) {
    const auto* const replay = std::get_if<ReplayDraft>(&item);
    return replay != nullptr && replay->queue == queue;
  });
}

void simplify_semaphores(Reduction& reduction) {
  reduction.for_each<SyncDraft>([&](size_t at) {
    reduction.drop_elements<SyncDraft>(at, &SyncDraft::semaphores, 1);
    for (size_t k = 0; k < reduction.item<SyncDraft>(at).semaphores.size(); ++k) {
      if (reduction.item<SyncDraft>(at).semaphores[k].stages == kAllStages) continue;
      reduction.attempt_change<SyncDraft>(
          at, [k](SyncDraft& sync) { sync.semaphores[k].stages = kAllStages; });
    }
  });
}

}  // namespace

void simplify_queues(Reduction& reduction) {
  drop_unused_names(reduction);
  drop_edges(reduction);
  simplify_semaphores(reduction);
  move_to_default_queue(reduction);
  reduction.for_each<QueueDraft>([&](size_t at) {
    const QueueDraft& queue = reduction.item<QueueDraft>(at);
    // Where a replay is launched stays a stream.
    const bool is_simple = queue.kind == QueueKind::kConcurrent;
    if (is_simple || is_replayed_on(reduction.current(), queue.name)) return;
    reduction.attempt_change<QueueDraft>(
        at, [](QueueDraft& changed) { changed.kind = QueueKind::kConcurrent; });
  });
  reduction.for_each<HostAccessDraft>([&](size_t at) {
    reduction.drop_elements<HostAccessDraft>(at, &HostAccessDraft::operands, 1);
    reduction.attempt_change<HostAccessDraft>(
        at, [](HostAccessDraft& access) { access.is_approximate = false; });
    if (reduction.item<HostAccessDraft>(at).value.kind == InitialKind::kNone) return;
    reduction.attempt_change<HostAccessDraft>(at,
                                              [](HostAccessDraft& access) { access.value = {}; });
  });
}

}  // namespace interlock
