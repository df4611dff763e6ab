#include "fuzz/generate/queue_mutation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fuzz/generate/draft_positions.h"
#include "fuzz/generate/program_scopes.h"

namespace interlock {
namespace {

constexpr StageMask kStageChoices[] = {
    bit_of(Stage::kCompute), bit_of(Stage::kCopy), bit_of(Stage::kIndirect),
    bit_of(Stage::kHost),    kAllStages,           kAllStages};

class QueueMutation {
 public:
  QueueMutation(ProgramDraft& draft, Choice& choice) : draft_(draft), choice_(choice) {}

  void apply_one() {
    using Change = void (QueueMutation::*)();
    constexpr Change kChanges[] = {
        &QueueMutation::drop_sync,     &QueueMutation::drop_signal_part,
        &QueueMutation::double_sync,   &QueueMutation::move_sync,
        &QueueMutation::move_sync,     &QueueMutation::change_queue,
        &QueueMutation::change_queue,  &QueueMutation::change_kind,
        &QueueMutation::change_memory, &QueueMutation::change_value,
        &QueueMutation::change_stages, &QueueMutation::change_dependencies,
        &QueueMutation::change_edges,  &QueueMutation::insert_pair,
    };
    (this->*kChanges[choice_.below(std::size(kChanges))])();
  }

 private:
  template <typename... Items>
  std::optional<size_t> pick() {
    const std::vector<size_t> positions = positions_of<Items...>(draft_);
    if (positions.empty()) return std::nullopt;
    return positions[choice_.below(positions.size())];
  }
  std::optional<size_t> pick_sync() { return pick<SyncDraft, HostAccessDraft, BarrierDraft>(); }

  // After all declarations.
  size_t pick_slot() {
    const std::vector<size_t> positions =
        positions_of<MemoryDraft, TensorDraft, QueueDraft, SemaphoreDraft, OutputDraft>(draft_);
    const size_t first = positions.empty() ? 0 : positions.back() + 1;
    return first + choice_.below(draft_.items.size() - first + 1);
  }

  // A declared one, or the default one.
  std::string pick_queue() {
    const auto at = pick<QueueDraft>();
    if (!at || choice_.chance(1, 4)) return "";
    return std::get<QueueDraft>(draft_.items[*at]).name;
  }

  SemaphoreUseDraft* pick_use() {
    const auto at = pick<SyncDraft>();
    if (!at) return nullptr;
    auto& uses = std::get<SyncDraft>(draft_.items[*at]).semaphores;
    return uses.empty() ? nullptr : &uses[choice_.below(uses.size())];
  }

  void drop_sync() {
    if (const auto at = pick_sync()) erase_at(draft_.items, *at);
  }

  void drop_signal_part() {
    const auto at = pick<SyncDraft>();
    if (!at) return;
    auto& uses = std::get<SyncDraft>(draft_.items[*at]).semaphores;
    if (uses.size() > 1) return erase_at(uses, choice_.below(uses.size()));
    if (!uses.empty()) erase_at(draft_.items, *at);
  }

  static void drop_label(ItemDraft& item) {
    if (auto* sync = std::get_if<SyncDraft>(&item)) sync->label.clear();
    if (auto* access = std::get_if<HostAccessDraft>(&item)) access->label.clear();
    if (auto* barrier = std::get_if<BarrierDraft>(&item)) barrier->label.clear();
  }

  void double_sync() {
    const auto at = pick_sync();
    if (!at) return;
    ItemDraft copy = draft_.items[*at];
    drop_label(copy);
    insert_at(draft_.items, pick_slot(), std::move(copy));
  }

  void move_sync() {
    const auto at = pick_sync();
    if (!at) return;
    ItemDraft item = std::move(draft_.items[*at]);
    erase_at(draft_.items, *at);
    insert_at(draft_.items, pick_slot(), std::move(item));
  }

  void change_queue() {
    const auto at = pick<DispatchDraft, SyncDraft, BarrierDraft, LifetimeDraft>();
    if (!at) return;
    ItemDraft& item = draft_.items[*at];
    std::string queue = pick_queue();
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      dispatch->queue = std::move(queue);
    } else if (auto* barrier = std::get_if<BarrierDraft>(&item)) {
      barrier->queue = std::move(queue);
    } else if (auto* lifetime = std::get_if<LifetimeDraft>(&item)) {
      lifetime->queue = std::move(queue);
    } else if (auto* sync = std::get_if<SyncDraft>(&item)) {
      if (!is_of_host(sync->kind) || sync->kind == SyncKind::kHostIdle) {
        sync->queue = std::move(queue);
      }
    }
  }

  void change_kind() {
    if (const auto at = pick<QueueDraft>()) {
      std::get<QueueDraft>(draft_.items[*at]).kind = static_cast<QueueKind>(choice_.below(5));
    }
  }

  void change_memory() {
    const auto at = pick<MemoryDraft>();
    if (!at) return;
    auto& memory = std::get<MemoryDraft>(draft_.items[*at]);
    const uint64_t sort = choice_.below(3);
    memory.is_unified = sort == 1;
    memory.atom_bytes = sort == 2 ? 4 : 0;
  }

  void change_value() {
    SemaphoreUseDraft* use = pick_use();
    if (use == nullptr || !use->value) return;
    if (choice_.chance(1, 2)) {
      ++*use->value;
    } else if (*use->value > 0) {
      --*use->value;
    }
  }

  void change_stages() {
    if (SemaphoreUseDraft* use = pick_use()) {
      use->stages = kStageChoices[choice_.below(std::size(kStageChoices))];
    }
  }

  // Of a barrier or an event: all, execution alone, or scopes.
  void change_dependencies() {
    const auto at = pick<BarrierDraft, SyncDraft>();
    if (!at || positions_of<MemoryDraft>(draft_).empty()) return;
    BarrierDraft drawn = draw_scoped_barrier(draft_, choice_);
    if (choice_.chance(1, 3)) drawn = {"", BarrierKind::kFull};
    if (choice_.chance(1, 6)) drawn = {"", BarrierKind::kExecution};
    if (auto* barrier = std::get_if<BarrierDraft>(&draft_.items[*at])) {
      barrier->kind = drawn.kind;
      barrier->dependencies = std::move(drawn.dependencies);
    } else if (auto& sync = std::get<SyncDraft>(draft_.items[*at]); sync.kind == SyncKind::kSet) {
      sync.barrier_kind = drawn.kind;
      sync.dependencies = std::move(drawn.dependencies);
    }
  }

  void change_edges() {
    const auto at = pick<DispatchDraft>();
    const auto from = pick<DispatchDraft>();
    if (!at) return;
    auto& dispatch = std::get<DispatchDraft>(draft_.items[*at]);
    const std::string& label = std::get<DispatchDraft>(draft_.items[*from]).label;
    const uint64_t what = choice_.below(4);
    if (what == 0) {
      dispatch.is_programmatic = !dispatch.after.empty() && !dispatch.is_programmatic;
    } else if (what < 3 && !dispatch.after.empty()) {
      erase_at(dispatch.after, choice_.below(dispatch.after.size()));
      if (dispatch.after.empty()) dispatch.is_programmatic = false;
    } else if (!label.empty() && std::ranges::count(dispatch.after, label) == 0) {
      dispatch.after.push_back(label);
    }
  }

  // Of a semaphore that nobody has: its name is the first that is free.
  void insert_pair() {
    std::string name;
    for (size_t k = 0; name.empty() || is_in_use(name); ++k) name = fmt::format("x{}", k);
    const auto step_of = [&](SyncKind kind, SyncKind of_host) {
      SyncDraft step;
      step.kind = choice_.chance(1, 6) ? of_host : kind;
      if (!is_of_host(step.kind)) step.queue = pick_queue();
      step.semaphores = {{name, 1, kAllStages}};
      return step;
    };
    insert_at(draft_.items, pick_slot(),
              ItemDraft(step_of(SyncKind::kSignal, SyncKind::kHostSignals)));
    insert_at(draft_.items, pick_slot(), ItemDraft(step_of(SyncKind::kWait, SyncKind::kHostWaits)));
  }

  bool is_in_use(const std::string& semaphore) const {
    return std::ranges::any_of(draft_.items, [&](const ItemDraft& item) {
      const auto* sync = std::get_if<SyncDraft>(&item);
      const auto* declared = std::get_if<SemaphoreDraft>(&item);
      if (declared != nullptr) return declared->name == semaphore;
      return sync != nullptr &&
             std::ranges::count(sync->semaphores, semaphore, &SemaphoreUseDraft::semaphore) > 0;
    });
  }

  ProgramDraft& draft_;
  Choice& choice_;
};

}  // namespace

bool has_queue_items(const ProgramDraft& draft) {
  return std::ranges::any_of(draft.items, [](const ItemDraft& item) {
    return holds_any<QueueDraft, SemaphoreDraft, SyncDraft, HostAccessDraft>(item);
  });
}

void mutate_queues(ProgramDraft& draft, Choice& choice) {
  QueueMutation(draft, choice).apply_one();
}

}  // namespace interlock
