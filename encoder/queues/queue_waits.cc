#include "encoder/queues/queue_waits.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace interlock {

Predecessors waits_of(const QueuePlan& plan, const Predecessors& pairs) {
  const size_t count = pairs.size();
  std::vector<uint32_t> positions(count);
  for (uint32_t i = 0; i < count; ++i) positions[plan.issued[i]] = i;
  Predecessors by_position;
  by_position.reserve(count, pairs.pair_count() + count);
  std::vector<uint32_t> last(plan.queues.size(), UINT32_MAX);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t dispatch = plan.issued[i];
    for (const uint32_t earlier : pairs[dispatch]) {
      by_position.push_back(positions[earlier]);
    }
    uint32_t& previous = last[plan.queue_of[dispatch]];
    if (previous != UINT32_MAX) by_position.push_back(previous);
    by_position.end_operation();
    previous = i;
  }
  const OrderReduction order(by_position);
  Predecessors waits;
  waits.reserve(count, order.all_predecessors().pair_count());
  for (uint32_t dispatch = 0; dispatch < count; ++dispatch) {
    for (const uint32_t position : order.predecessors(positions[dispatch])) {
      const uint32_t earlier = plan.issued[position];
      if (plan.queue_of[earlier] != plan.queue_of[dispatch]) waits.push_back(earlier);
    }
    waits.end_operation();
  }
  return waits;
}

}  // namespace interlock
