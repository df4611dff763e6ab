#include "encoder/plan/stream_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/plan/best_fit.h"
#include "encoder/plan/plan_layout.h"
#include "encoder/plan/plan_values.h"
#include "encoder/plan/sync_order.h"

namespace interlock {
namespace {

// Whose blocks a pool has, and what it is told of their uses.
enum class PoolKind : uint8_t { kOfDevice, kOfQueues, kOfQueuesUnrecorded };

// The values of one pool, as a placement problem of its own.
struct StreamPool {
  std::vector<uint32_t> values;
  PlacementProblem problem;
};

// Asks what is allowed of the values of the program.
class PoolRule final : public ReuseRule {
 public:
  PoolRule(const ReuseRule& rule, const std::vector<uint32_t>& values)
      : rule_(rule), values_(values) {}

  bool allows(uint32_t earlier, uint32_t later) const override {
    return rule_.allows(values_[earlier], values_[later]);
  }

 private:
  const ReuseRule& rule_;
  const std::vector<uint32_t>& values_;
};

class StreamPoolPlanner {
 public:
  StreamPoolPlanner(const Program& program, const PlanValues& values, const ReuseRule* rule,
                    PoolKind kind)
      : program_(program), values_(values), rule_(rule), kind_(kind) {}

  PlanLayout run() {
    PlanLayout layout;
    layout.places.resize(values_.tensors.size());
    for (const auto& [queue, pool] : pools()) {
      PlacementProblem problem = pool.problem;
      std::optional<PoolRule> rule;
      if (rule_ != nullptr) problem.rule = &rule.emplace(*rule_, pool.values);
      const ValuePlacement placement = place_best_fit(problem);
      const auto memory = static_cast<uint32_t>(layout.memories.size());
      layout.memories.push_back({name_of_pool(queue), placement.size_bytes});
      for (size_t i = 0; i < pool.values.size(); ++i) {
        layout.places[pool.values[i]] = {memory, placement.offsets_bytes[i], PlanValues::kNoValue};
      }
    }
    return layout;
  }

 private:
  std::string name_of_pool(QueueIndex queue) const {
    if (program_.queues.empty() || queue == kNoQueue) return "pool";
    return fmt::format("pool_{}", program_.name_of(queue));
  }

  // Where the value is allocated: by whoever uses it first; none of a pool of all queues.
  QueueIndex queue_of(uint32_t value) const {
    if (kind_ == PoolKind::kOfDevice) return kNoQueue;
    const std::vector<uint32_t>& users = values_.dispatches[value];
    return users.empty() ? kDefaultQueue : program_.queue_of(program_.dispatches[users.front()]);
  }

  std::map<QueueIndex, StreamPool> pools() const {
    std::map<QueueIndex, StreamPool> pools;
    for (uint32_t value = 0; value < values_.tensors.size(); ++value) {
      StreamPool& pool = pools[queue_of(value)];
      pool.values.push_back(value);
      pool.problem.step_count = values_.problem.step_count;
      pool.problem.values.push_back(values_.problem.values[value]);
    }
    return pools;
  }

  const Program& program_;
  const PlanValues& values_;
  const ReuseRule* rule_;
  const PoolKind kind_;
};

// What the queue of the value is told of its uses: those that it has there itself.
void forget_other_queues(const Program& program, PlanValues& values) {
  for (std::vector<uint32_t>& users : values.dispatches) {
    if (users.empty()) continue;
    const QueueIndex queue = program.queue_of(program.dispatches[users.front()]);
    std::erase_if(
        users, [&](uint32_t user) { return program.queue_of(program.dispatches[user]) != queue; });
  }
}

Result<Program> plan_pools(const Program& program, const PlanOptions& options, PoolKind kind) {
  auto values = values_of(program, options);
  if (!values) return values.error();
  values->problem.in_place.clear();
  std::optional<SyncRule> rule;
  if (has_sync_of_queues(program)) {
    if (auto checked = check_order_count(program, SyncOrder::kDispatchCountMax); !checked) {
      return checked.error();
    }
    if (kind == PoolKind::kOfQueuesUnrecorded) forget_other_queues(program, *values);
    rule.emplace(SyncOrder(program), *values);
  }
  const PlanLayout layout =
      StreamPoolPlanner(program, *values, rule ? &*rule : nullptr, kind).run();
  return place_values(program, *values, layout);
}

}  // namespace

Result<Program> plan_stream_pool(const Program& program, const PlanOptions& options) {
  return plan_pools(program, options, PoolKind::kOfQueues);
}

Result<Program> plan_async_pool(const Program& program, const PlanOptions& options) {
  return plan_pools(program, options, PoolKind::kOfDevice);
}

Result<Program> plan_stream_pool_unrecorded(const Program& program, const PlanOptions& options) {
  return plan_pools(program, options, PoolKind::kOfQueuesUnrecorded);
}

}  // namespace interlock
