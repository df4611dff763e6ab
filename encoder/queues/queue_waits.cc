#include "encoder/queues/queue_waits.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace interlock {

Predecessors waits_of(const QueuePlan& plan, const Predecessors& pairs) {
  const size_t count = pairs.size();
  std::vector<uint32_t> positions(count);
  for (uint32_t i = 0; i < count; ++i) positions[plan.issued[i]] = i;
  Predecessors by_position(count);
  std::vector<uint32_t> last(plan.queues.size(), UINT32_MAX);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t dispatch = plan.issued[i];
    for (const uint32_t earlier : pairs[dispatch]) {
      by_position[i].push_back(positions[earlier]);
    }
    uint32_t& previous = last[plan.queue_of[dispatch]];
    if (previous != UINT32_MAX) by_position[i].push_back(previous);
    previous = i;
  }
  const OrderReduction order(by_position);
  Predecessors waits(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t dispatch = plan.issued[i];
    for (const uint32_t position : order.predecessors(i)) {
      const uint32_t earlier = plan.issued[position];
      if (plan.queue_of[earlier] != plan.queue_of[dispatch]) waits[dispatch].push_back(earlier);
    }
  }
  return waits;
}

}  // namespace interlock
