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

// The rows of a strided operand are one operand.
std::vector<OperandDraft> operand_drafts_of(const Program& program,
                                            const std::vector<Access>& accesses) {
  std::vector<OperandDraft> operands;
  for (size_t i = 0; i < accesses.size(); ++i) {
    operands.push_back(draft_of(program, accesses[i]));
    if (accesses[i].stride == Access::kNotStrided) continue;
    i += program.strides[accesses[i].stride].row_count - 1;
  }
  return operands;
}

class QueueProgramWriter {
 public:
  QueueProgramWriter(const Program& program, const CommandNames& names, const RecordingSink& issued)
      : program_(program), names_(names), issued_(issued) {
    take_items();
    for (const QueueDraft& queue : names.queues) {
      const bool is_default = queue.name == kDefaultQueueName;
      if (!is_default || queue.kind != QueueKind::kConcurrent) draft_.items.emplace_back(queue);
    }
    for (const CommandNames::NamedSemaphore& semaphore : names.semaphores) {
      if (semaphore.is_declared) draft_.items.emplace_back(semaphore.draft);
    }
    order_dispatches();
    connect_dispatches();
  }

  Result<Program> run() {
    for (const Command& command : issued_.commands()) {
      if (command.kind == StatementKind::kDispatch) {
        add_dispatch(command);
      } else if (command.kind == StatementKind::kLifetime) {
        draft_.items.push_back(std::move(lifetimes_[command.detail]));
      } else if (command.is_whole) {
        add_whole(issued_.syncs()[command.detail], queue_text_of(command));
      } else if (command.kind == StatementKind::kBarrier) {
        add_barrier(command, queue_text_of(command));
      } else {
        add_sync(command, queue_text_of(command));
      }
    }
    if (is_stopped()) return Program{};
    return build(draft_);
  }

 private:
  // What is no statement is kept as it is, if it does not depend on the sync.
  void take_items() {
    dispatches_.resize(program_.dispatches.size());
    ProgramDraft expanded = expanded_draft_of(program_);
    size_t next = 0;
    for (ItemDraft& item : expanded.items) {
      if (auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
        dispatch->after.clear();
        dispatch->is_programmatic = false;
      }
      if (std::holds_alternative<DispatchDraft>(item) ||
          std::holds_alternative<HostAccessDraft>(item)) {
        while (program_.dispatches[next].is_transition()) ++next;
        dispatches_[next++] = std::move(item);
      } else if (std::holds_alternative<LifetimeDraft>(item)) {
        lifetimes_.push_back(std::move(item));
      } else if (std::holds_alternative<MemoryDraft>(item) ||
                 std::holds_alternative<TensorDraft>(item) ||
                 std::holds_alternative<OutputDraft>(item)) {
        draft_.items.push_back(std::move(item));
      }
    }
  }

  // Null for what the text does not count.
  DispatchDraft* counted(DispatchId id) {
    return std::get_if<DispatchDraft>(&dispatches_[id.index]);
  }

  bool is_counted(DispatchId id) const { return program_.dispatch(id).is_counted(); }

  void order_dispatches() {
    positions_.assign(dispatches_.size(), DispatchId::kNone);
    std::vector<uint32_t> order;
    for (const Command& command : issued_.commands()) {
      if (command.kind != StatementKind::kDispatch) continue;
      INTERLOCK_CHECK(command.dispatch.index < positions_.size());
      INTERLOCK_CHECK(positions_[command.dispatch.index] == DispatchId::kNone);
      positions_[command.dispatch.index] = static_cast<uint32_t>(order.size());
      if (is_counted(command.dispatch)) order.push_back(command.dispatch.index);
    }
    const size_t uncounted_count = program_.uncounted_dispatches.size();
    INTERLOCK_CHECK(is_stopped() || order.size() == dispatches_.size() - uncounted_count);
    if (program_.has_program_order || std::ranges::is_sorted(order)) return;
    uint64_t next = 0;
    for (size_t i = 0; i < dispatches_.size(); ++i) {
      if (DispatchDraft* const dispatch = counted(DispatchId(i))) dispatch->order = next++;
    }
  }

  void connect_dispatches() {
    std::vector<bool> has_full_edge(dispatches_.size(), false);
    for (const CommandEdge& edge : issued_.edges()) {
      const std::string& label = counted(edge.from)->label;
      counted(edge.to)->after.push_back(label.empty() ? std::to_string(positions_[edge.from.index])
                                                      : label);
      if (!edge.is_programmatic) has_full_edge[edge.to.index] = true;
    }
    for (const CommandEdge& edge : issued_.edges()) {
      counted(edge.to)->is_programmatic = !has_full_edge[edge.to.index];
    }
  }

  // Empty for the default one, as in drafts.
  std::string queue_text_of(QueueIndex queue) const {
    const std::string& name = names_.queues[queue].name;
    return name == kDefaultQueueName ? std::string() : name;
  }
  std::string queue_text_of(const Command& command) const { return queue_text_of(command.queue); }

  void add_dispatch(const Command& command) {
    if (DispatchDraft* const dispatch = counted(command.dispatch)) {
      dispatch->queue = queue_text_of(command);
    }
    draft_.items.push_back(std::move(dispatches_[command.dispatch.index]));
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

  SemaphoreUseDraft use_of(const SemaphorePoint& point) const {
    if (point.semaphore >= names_.semaphores.size()) {
      return {.semaphore = fmt::format("s{}", point.semaphore + 1),
              .value = point.value,
              .stages = point.stages};
    }
    const SemaphoreDraft& semaphore = names_.semaphores[point.semaphore].draft;
    SemaphoreUseDraft use{.semaphore = semaphore.name, .value = {}, .stages = point.stages};
    if (!semaphore.is_binary) use.value = point.value;
    return use;
  }

  std::string event_of(uint32_t event) const {
    return event < names_.events.size() ? names_.events[event] : fmt::format("e{}", event + 1);
  }

  void add_sync(const Command& command, const std::string& queue) {
    SyncDraft draft;
    draft.kind = command.sync;
    draft.queue = queue;
    if (command.sync == SyncKind::kSignal || command.sync == SyncKind::kWait) {
      draft.semaphores.push_back(use_of(detail_of(command).point));
    } else if (command.sync != SyncKind::kSplit) {
      draft.event = event_of(detail_of(command).event);
    }
    if (command.sync == SyncKind::kSet) {
      draft.barrier_kind = BarrierKind::kScoped;
      draft.dependencies.push_back({detail_of(command).source, detail_of(command).destination, {}});
    }
    draft_.items.emplace_back(std::move(draft));
  }

  std::vector<DependencyDraft> drafts_of(const std::vector<DependencyCommand>& dependencies) const {
    std::vector<DependencyDraft> drafts;
    for (const DependencyCommand& dependency : dependencies) {
      drafts.push_back({dependency.source, dependency.destination,
                        operand_drafts_of(program_, dependency.operands), dependency.transition});
    }
    return drafts;
  }

  void add_whole(const SyncCommand& command, const std::string& queue) {
    if (command.is_barrier) {
      draft_.items.emplace_back(
          BarrierDraft{{}, command.barrier, drafts_of(command.dependencies), queue});
      return;
    }
    SyncDraft draft;
    draft.kind = command.kind;
    if (!is_of_host(command.kind)) draft.queue = queue;
    if (command.idle_queue != kNoQueue) draft.queue = names_.queues[command.idle_queue].name;
    for (const SemaphorePoint& point : command.points) draft.semaphores.push_back(use_of(point));
    if (command.is_from_outside) draft.semaphores.back().is_from_outside = true;
    if (command.kind == SyncKind::kSet || command.kind == SyncKind::kAwait) {
      draft.event = event_of(command.event);
    }
    if (command.kind == SyncKind::kSet) draft.barrier_kind = command.barrier;
    draft.dependencies = drafts_of(command.dependencies);
    draft.operands = operand_drafts_of(program_, command.operands);
    draft_.items.emplace_back(std::move(draft));
  }

  const Program& program_;
  const CommandNames& names_;
  const RecordingSink& issued_;
  ProgramDraft draft_;
  std::vector<ItemDraft> dispatches_;  // By dispatch; what barriers do is none.
  std::vector<ItemDraft> lifetimes_;   // By lifetime statement.
  std::vector<uint32_t> positions_;    // By dispatch that is counted: its number in the new text.
};

}  // namespace

Result<Program> program_by_rules(const Program& program, const std::vector<QueueDraft>& queues,
                                 const RecordingSink& issued) {
  return program_by_rules(program, CommandNames{.queues = queues, .semaphores = {}, .events = {}},
                          issued);
}

Result<Program> program_by_rules(const Program& program, const CommandNames& names,
                                 const RecordingSink& issued) {
  if (is_stopped()) return Program{};
  return QueueProgramWriter(program, names, issued).run();
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
  if (is_stopped()) return Program{};
  if (auto checked = check_issued_once(program, issued); !checked) return checked.error();
  uint32_t queue_count = 1;
  for (const Command& command : issued.commands()) {
    queue_count = std::max(queue_count, command.queue + 1u);
  }
  return program_on_queues(program, numbered_queues(kind, queue_count), issued);
}

}  // namespace interlock
