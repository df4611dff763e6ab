#include "encoder/queues/queue_program.h"

#include <span>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "encoder/queues/command_layout.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"

namespace interlock {
namespace {

std::vector<bool> dispatches_waited_for(const QueuePlan& plan) {
  std::vector<bool> is_waited_for(plan.queue_of.size(), false);
  for (size_t i = 0; i < plan.after.size(); ++i) {
    for (const uint32_t before : plan.after[i]) is_waited_for[before] = true;
  }
  for (const std::vector<uint32_t>& list : plan.before_ends) {
    for (const uint32_t before : list) is_waited_for[before] = true;
  }
  return is_waited_for;
}

QueueIndex queue_of(const QueuePlan& plan, uint32_t dispatch) {
  return static_cast<QueueIndex>(plan.queue_of[dispatch]);
}

class SemaphoreIssue {
 public:
  SemaphoreIssue(const QueuePlan& plan, CommandSink& sink)
      : plan_(plan),
        sink_(sink),
        is_waited_for_(dispatches_waited_for(plan)),
        values_(plan.queue_of.size(), 0),
        last_values_(plan.queues.size(), 0),
        host_values_(plan.queues.size(), 0) {}

  void issue_on_queue(uint32_t dispatch) {
    const uint32_t queue = plan_.queue_of[dispatch];
    sink_.use_queue(queue_of(plan_, dispatch));
    for (const uint32_t before : plan_.after[dispatch]) {
      INTERLOCK_CHECK(plan_.queue_of[before] != queue && values_[before] > 0);
      sink_.issue_wait(point_after(before));
    }
    sink_.issue_dispatch(DispatchId(size_t{dispatch}));
    if (!is_waited_for_[dispatch]) return;
    values_[dispatch] = ++last_values_[queue];
    sink_.issue_signal(point_after(dispatch));
  }

  void let_host_wait(std::span<const uint32_t> dispatches) {
    for (const uint32_t before : dispatches) {
      INTERLOCK_CHECK(values_[before] > 0);
      uint64_t& known = host_values_[plan_.queue_of[before]];
      if (values_[before] <= known) continue;
      known = values_[before];
      sink_.issue_sync({.kind = SyncKind::kHostWaits, .points = {point_after(before)}});
    }
  }

 private:
  SemaphorePoint point_after(uint32_t dispatch) const {
    return {.semaphore = plan_.queue_of[dispatch], .value = values_[dispatch]};
  }

  const QueuePlan& plan_;
  CommandSink& sink_;
  const std::vector<bool> is_waited_for_;
  std::vector<uint64_t> values_;       // Of the signal after each dispatch.
  std::vector<uint64_t> last_values_;  // By queue.
  std::vector<uint64_t> host_values_;  // By queue: those that the host has waited for.
};

}  // namespace

void issue_with_semaphores(const QueuePlan& plan, CommandSink& sink) {
  SemaphoreIssue issue(plan, sink);
  for (const uint32_t dispatch : plan.issued) issue.issue_on_queue(dispatch);
}

void issue_beside_host(const Program& program, const QueuePlan& plan, CommandSink& sink) {
  SemaphoreIssue issue(plan, sink);
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kLifetime) {
      if (!plan.before_ends.empty()) issue.let_host_wait(plan.before_ends[statement.index]);
      sink.issue_lifetime(LifetimeId(size_t{statement.index}));
    } else if (statement.kind == StatementKind::kDispatch) {
      if (plan.queue_of[statement.index] != QueuePlan::kOfHost) {
        issue.issue_on_queue(statement.index);
        continue;
      }
      issue.let_host_wait(plan.after[statement.index]);
      sink.issue_dispatch(DispatchId(size_t{statement.index}));
    }
  }
}

void issue_with_edges(const QueuePlan& plan, CommandSink& sink) {
  for (const uint32_t dispatch : plan.issued) {
    const DispatchId id(size_t{dispatch});
    sink.use_queue(queue_of(plan, dispatch));
    for (const uint32_t before : plan.after[dispatch]) {
      sink.issue_edge(DispatchId(size_t{before}), id);
    }
    sink.issue_dispatch(id);
  }
}

Result<Program> with_semaphores(const Program& program, const QueuePlan& plan) {
  if (is_stopped()) return Program{};
  if (has_host_work_of_no_queue(program)) {
    RecordingSink issued;
    issue_beside_host(program, plan, issued);
    return program_by_rules(program, plan.queues, issued);
  }
  CommandLayout layout(program, plan.queues, plan.issued.size() + 2 * plan.after.pair_count(), 0);
  issue_with_semaphores(plan, layout);
  if (auto result = layout.finish()) return *std::move(result);
  RecordingSink issued;
  issue_with_semaphores(plan, issued);
  return program_by_rules(program, plan.queues, issued);
}

Result<Program> with_edges(const Program& program, const QueuePlan& plan) {
  if (is_stopped()) return Program{};
  CommandLayout layout(program, plan.queues, plan.issued.size(), plan.after.pair_count());
  issue_with_edges(plan, layout);
  if (auto result = layout.finish()) return *std::move(result);
  RecordingSink issued;
  issue_with_edges(plan, issued);
  return program_by_rules(program, plan.queues, issued);
}

}  // namespace interlock
