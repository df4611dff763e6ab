// T6: one schedule per hazard. The idea: the smallest legal change that makes the second of two
// unordered dispatches come first is to move the first, and whatever must follow it, after it.
#include "encoder/program/check.h"
#include "simulator/schedules/strategies.h"

namespace interlock {

std::vector<Displacement> sink_of(const Program& /*program*/, const HappensBefore& order,
                                  const Hazard& hazard) {
  const DispatchId first = hazard.first.dispatch;
  const DispatchId second = hazard.second.dispatch;
  INTERLOCK_CHECK(first < second);
  if (hazard.is_ordered) return {{first, second, DisplacementKind::kCommitsAfter}};
  std::vector<Displacement> sink = {{first, second, DisplacementKind::kAfter}};
  // The order is transitive, so the descendants of descendants are descendants. None of them comes
  // before `second`: then `first` would, and the pair would be no hazard.
  for (DispatchId between(first.index + 1); between < second; ++between.index) {
    if (!order.executes_before(first, between)) continue;
    sink.push_back({between, sink.back().moved, DisplacementKind::kAfter});
  }
  return sink;
}

}  // namespace interlock
