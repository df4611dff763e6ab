#include "encoder/queues/queue_program.h"

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "encoder/queues/command_layout.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/recording_sink.h"

namespace interlock {
namespace {

std::vector<bool> dispatches_waited_for(const QueuePlan& plan) {
  std::vector<bool> is_waited_for(plan.queue_of.size(), false);
  for (size_t i = 0; i < plan.after.size(); ++i) {
    for (const uint32_t before : plan.after[i]) is_waited_for[before] = true;
  }
  return is_waited_for;
}

QueueIndex queue_of(const QueuePlan& plan, uint32_t dispatch) {
  return static_cast<QueueIndex>(plan.queue_of[dispatch]);
}

}  // namespace

void issue_with_semaphores(const QueuePlan& plan, CommandSink& sink) {
  const std::vector<bool> is_waited_for = dispatches_waited_for(plan);
  std::vector<uint64_t> values(plan.queue_of.size(), 0);  // Of the signal after each dispatch.
  std::vector<uint64_t> last_values(plan.queues.size(), 0);
  for (const uint32_t dispatch : plan.issued) {
    const uint32_t queue = plan.queue_of[dispatch];
    sink.use_queue(queue_of(plan, dispatch));
    for (const uint32_t before : plan.after[dispatch]) {
      INTERLOCK_CHECK(plan.queue_of[before] != queue && values[before] > 0);
      sink.issue_wait({.semaphore = plan.queue_of[before], .value = values[before]});
    }
    sink.issue_dispatch(DispatchId(size_t{dispatch}));
    if (!is_waited_for[dispatch]) continue;
    values[dispatch] = ++last_values[queue];
    sink.issue_signal({.semaphore = queue, .value = values[dispatch]});
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
