#include "encoder/queues/minimal_encoders.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/limits.h"
#include "encoder/program/stop.h"
#include "encoder/queues/assign_queues.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/given_queues.h"
#include "encoder/queues/graph_host_work.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_program.h"
#include "encoder/queues/queue_waits.h"

namespace interlock {
namespace {

std::vector<uint32_t> in_text_order(const Program& program) {
  std::vector<uint32_t> issued(program.dispatches.size());
  std::iota(issued.begin(), issued.end(), 0u);
  return issued;
}

// The queues that the program says.
Result<QueuePlan> plan_of_given_queues(const Program& program, uint32_t queue_count) {
  Result<QueuesOfDispatches> given = given_queues(program, queue_count);
  if (!given) return given.error();
  return QueuePlan{
      std::move(given->queues), std::move(given->queue_of), in_text_order(program), {}};
}

Result<QueuePlan> chosen_queues(const Program& program, const OrderReduction& order,
                                uint32_t queue_count) {
  QueueAssignment assignment = assign_queues(order, queue_count);
  if (is_stopped()) return QueuePlan{.issued = in_text_order(program)};
  // One is the default queue.
  const uint64_t queue_count_max = Limits{}.queue_count - 1;
  if (assignment.queue_count > queue_count_max) {
    return error_of(
        "the fewest waits with all concurrency take {} queues, and a program has at most {} beside the "
        "default one. --queues=N makes do with fewer.",
        assignment.queue_count, queue_count_max);
  }
  return QueuePlan{numbered_queues(QueueKind::kSerial, assignment.queue_count),
                   std::move(assignment.queues),
                   std::move(assignment.issued),
                   {}};
}

// Of the host's accesses none. Whatever queues dispatches are on, the order of the text will do.
Result<QueuesOfDispatches> chosen_queues_beside_host(const Program& program,
                                                     const Predecessors& conflicts,
                                                     uint32_t queue_count) {
  const Result<QueuePlan> plan = chosen_queues(program, OrderReduction(conflicts), queue_count);
  if (!plan) return plan.error();
  QueuesOfDispatches result;
  std::vector<uint32_t> number_of(plan->queues.size(), UINT32_MAX);
  uint32_t count = 0;
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    const bool is_of_host = program.dispatches[i].host != HostAccess::kNone;
    if (!is_of_host && number_of[plan->queue_of[i]] == UINT32_MAX) {
      number_of[plan->queue_of[i]] = count++;
    }
    result.queue_of.push_back(is_of_host ? UINT32_MAX : number_of[plan->queue_of[i]]);
  }
  result.queues = numbered_queues(QueueKind::kSerial, count);
  return result;
}

Result<Program> encode_semaphores_beside_host(const Program& program, uint32_t queue_count) {
  const bool has_given = has_given_queues(program);
  if (auto checked = has_given ? check_host_work(program) : check_host_work_of_no_queue(program);
      !checked) {
    return checked.error();
  }
  const Result<QueuesOfDispatches> queues =
      has_given ? given_queues(program, queue_count)
                : chosen_queues_beside_host(program, conflicts_of(program), queue_count);
  if (!queues) return queues.error();
  if (is_stopped()) return Program{};
  return encode_beside_host(program, *queues, SignalPlaces::kWhereAwaited);
}

}  // namespace

Result<Program> encode_edges(const Program& program, uint32_t /*queue_count*/) {
  if (auto checked = check_count(program); !checked) return checked.error();
  if (has_host_work_of_no_queue(program)) {
    if (auto checked = check_host_work_of_no_queue(program); !checked) return checked.error();
    return encode_graph_beside_host(program);
  }
  if (auto checked = check_is_dispatches(program); !checked) return checked.error();
  const OrderReduction order(conflicts_of(program));
  if (is_stopped()) return Program{};
  const QueuePlan plan = {numbered_queues(QueueKind::kGraph, 1),
                          std::vector<uint32_t>(program.dispatches.size(), 0),
                          in_text_order(program), order.all_predecessors()};
  return with_edges(program, plan);
}

Result<Program> encode_semaphores(const Program& program, uint32_t queue_count) {
  if (auto checked = check_count(program); !checked) return checked.error();
  if (has_host_work(program)) return encode_semaphores_beside_host(program, queue_count);
  if (auto checked = check_is_dispatches(program); !checked) return checked.error();
  Predecessors conflicts = conflicts_of(program);
  Result<QueuePlan> plan = has_given_queues(program)
                               ? plan_of_given_queues(program, queue_count)
                               : chosen_queues(program, OrderReduction(conflicts), queue_count);
  if (!plan) return plan.error();
  if (is_stopped()) return Program{};
  plan->after = waits_of(*plan, conflicts);
  conflicts = Predecessors();  // The program that is made takes its memory.
  return with_semaphores(program, *plan);
}

}  // namespace interlock
