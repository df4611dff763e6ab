#include "encoder/queues/queue_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "encoder/queues/command_layout.h"
#include "encoder/queues/dispatch_conflicts.h"

namespace interlock {
namespace {

class QueueProgramWriter {
 public:
  QueueProgramWriter(const Program& program, const std::vector<QueueDraft>& queues,
                     const RecordingSink& issued)
      : queues_(queues), issued_(issued) {
    for (ItemDraft& item : expanded_draft_of(program).items) take(std::move(item));
    for (const QueueDraft& queue : queues) draft_.items.emplace_back(queue);
    order_dispatches(program.has_program_order);
    connect_dispatches();
  }

  Result<Program> run() {
    for (const Command& command : issued_.commands()) {
      const std::string& queue = queues_[command.queue].name;
      if (command.kind == StatementKind::kDispatch) {
        DispatchDraft& dispatch = dispatches_[command.dispatch.index];
        dispatch.queue = queue;
        draft_.items.emplace_back(std::move(dispatch));
      } else if (command.kind == StatementKind::kBarrier) {
        add_barrier(command, queue);
      } else {
        add_sync(command, queue);
      }
    }
    if (is_stopped()) return Program{};
    return build(draft_);
  }

 private:
  // What is no statement is kept as it is, if it does not depend on the sync.
  void take(ItemDraft item) {
    if (auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
      dispatch->after.clear();
      dispatch->is_programmatic = false;
      dispatches_.push_back(std::move(*dispatch));
    } else if (std::holds_alternative<MemoryDraft>(item) ||
               std::holds_alternative<TensorDraft>(item) ||
               std::holds_alternative<OutputDraft>(item)) {
      draft_.items.push_back(std::move(item));
    }
  }

  void order_dispatches(bool has_program_order) {
    positions_.assign(dispatches_.size(), DispatchId::kNone);
    std::vector<uint32_t> order;
    for (const Command& command : issued_.commands()) {
      if (command.kind != StatementKind::kDispatch) continue;
      INTERLOCK_CHECK(command.dispatch.index < positions_.size());
      INTERLOCK_CHECK(positions_[command.dispatch.index] == DispatchId::kNone);
      positions_[command.dispatch.index] = static_cast<uint32_t>(order.size());
      order.push_back(command.dispatch.index);
    }
    INTERLOCK_CHECK(is_stopped() || order.size() == dispatches_.size());
    if (has_program_order || std::ranges::is_sorted(order)) return;
    for (uint32_t i = 0; i < dispatches_.size(); ++i) dispatches_[i].order = i;
  }

  void connect_dispatches() {
    for (const CommandEdge& edge : issued_.edges()) {
      const std::string& label = dispatches_[edge.from.index].label;
      dispatches_[edge.to.index].after.push_back(
          label.empty() ? std::to_string(positions_[edge.from.index]) : label);
    }
  }

  const CommandDetail& detail_of(const Command& command) const {
    return issued_.details()[command.detail];
  }

  void add_barrier(const Command& command, const std::string& queue) {
    BarrierDraft draft;
    draft.kind = command.barrier;
    draft.queue = queue;
    if (command.barrier == BarrierKind::kScoped) {
      const CommandDetail& detail = detail_of(command);
      draft.dependencies.push_back({detail.source, detail.destination, {}});
    }
    draft_.items.emplace_back(std::move(draft));
  }

  void add_sync(const Command& command, const std::string& queue) {
    SyncDraft draft;
    draft.kind = command.sync;
    draft.queue = queue;
    if (command.sync == SyncKind::kSignal || command.sync == SyncKind::kWait) {
      const SemaphorePoint& point = detail_of(command).point;
      draft.semaphores.push_back({.semaphore = fmt::format("s{}", point.semaphore + 1),
                                  .value = point.value,
                                  .stages = point.stages});
    } else if (command.sync != SyncKind::kSplit) {
      draft.event = fmt::format("e{}", detail_of(command).event + 1);
    }
    if (command.sync == SyncKind::kSet) {
      draft.barrier_kind = BarrierKind::kScoped;
      draft.dependencies.push_back({detail_of(command).source, detail_of(command).destination, {}});
    }
    draft_.items.emplace_back(std::move(draft));
  }

  const std::vector<QueueDraft>& queues_;
  const RecordingSink& issued_;
  ProgramDraft draft_;
  std::vector<DispatchDraft> dispatches_;
  std::vector<uint32_t> positions_;  // By dispatch: its index in the new text.
};

}  // namespace

Result<Program> program_by_rules(const Program& program, const std::vector<QueueDraft>& queues,
                                 const RecordingSink& issued) {
  if (is_stopped()) return Program{};
  return QueueProgramWriter(program, queues, issued).run();
}

Result<Program> program_on_queues(const Program& program, const std::vector<QueueDraft>& queues,
                                  const RecordingSink& issued) {
  if (is_stopped()) return Program{};
  CommandLayout layout(program, queues, issued.commands().size(), issued.edges().size());
  issued.issue_again(layout);
  if (auto result = layout.finish()) return *std::move(result);
  return program_by_rules(program, queues, issued);
}

std::vector<QueueDraft> numbered_queues(QueueKind kind, uint32_t count) {
  std::vector<QueueDraft> queues;
  for (uint32_t i = 1; i <= count; ++i) queues.push_back({fmt::format("q{}", i), kind});
  return queues;
}

Result<Program> encode_on_queues(const Program& program, Encoder& encoder, QueueKind kind) {
  if (auto checked = check_is_dispatches(program); !checked) return checked.error();
  RecordingSink issued;
  issue_all(program, encoder, issued);
  uint32_t queue_count = 1;
  for (const Command& command : issued.commands()) {
    queue_count = std::max(queue_count, command.queue + 1u);
  }
  return program_on_queues(program, numbered_queues(kind, queue_count), issued);
}

}  // namespace interlock
