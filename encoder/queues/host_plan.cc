// The basic idea is that the host is a serial queue more, after which every other one comes as soon
// as it is given its next dispatch.
#include "encoder/queues/host_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "encoder/queues/queue_waits.h"

namespace interlock {
namespace {

constexpr uint32_t kNoDispatch = UINT32_MAX;

}  // namespace

Predecessors waits_beside_host(const Program& program, const QueuePlan& plan,
                               PredecessorLists pairs) {
  QueuePlan with_host{plan.queues, plan.queue_of, plan.issued, {}};
  const auto host = static_cast<uint32_t>(plan.queues.size());
  with_host.queues.push_back({});
  std::ranges::replace(with_host.queue_of, QueuePlan::kOfHost, host);
  uint32_t last = kNoDispatch;
  for (uint32_t i = 0; i < program.dispatches.size(); ++i) {
    if (with_host.queue_of[i] == host) {
      last = i;
    } else if (last != kNoDispatch) {
      pairs[i].push_back(last);
    }
  }
  const Predecessors waits = waits_of(with_host, pairs);
  Predecessors of_queues;
  of_queues.reserve(waits.size(), waits.pair_count());
  for (size_t i = 0; i < waits.size(); ++i) {
    for (const uint32_t before : waits[i]) {
      if (with_host.queue_of[before] != host) of_queues.push_back(before);
    }
    of_queues.end_operation();
  }
  return of_queues;
}

PredecessorLists all_before_destroys(const Program& program, const QueuePlan& plan) {
  PredecessorLists before(program.lifetimes.size());
  std::vector<uint32_t> last(plan.queues.size(), kNoDispatch);
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) {
      const uint32_t queue = plan.queue_of[statement.index];
      if (queue != QueuePlan::kOfHost) last[queue] = statement.index;
    } else if (statement.kind == StatementKind::kLifetime &&
               program.lifetimes[statement.index].kind == LifetimeKind::kDestroy) {
      std::ranges::copy_if(last, std::back_inserter(before[statement.index]),
                           [](uint32_t dispatch) { return dispatch != kNoDispatch; });
    }
  }
  return before;
}

}  // namespace interlock
