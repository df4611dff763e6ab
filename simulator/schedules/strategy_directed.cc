// The idea: every pair, not only the latest conflict of a dispatch, since a live reader may come
// before a dead one.
#include "simulator/schedules/strategy_directed.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/displacements.h"

namespace interlock {
namespace {

constexpr uint64_t kKindsOfPairMax = 3;

}  // namespace

DirectedStrategy::DirectedStrategy(const Program& program, const HappensBefore& order,
                                   const StrategyOptions& options)
    : program_(program),
      order_(order),
      hazards_(find_all_hazards(
          program, order,
          std::min(options.schedule_count, UINT64_MAX / kKindsOfPairMax) * kKindsOfPairMax)) {}

// The kinds of a pair share their sink, unless scoped barriers order it.
bool DirectedStrategy::has_sinks_of_previous(size_t hazard) const {
  if (hazard == 0) return false;
  const Hazard& previous = hazards_[hazard - 1];
  const Hazard& current = hazards_[hazard];
  return current.first.dispatch == previous.first.dispatch &&
         current.second.dispatch == previous.second.dispatch &&
         !(order_.has_scopes() && current.is_ordered);
}

bool DirectedStrategy::next(Schedule& schedule) {
  while (next_sink_ == sinks_.size()) {
    if (next_hazard_ == hazards_.size() || is_stopped()) return false;
    const size_t hazard = next_hazard_++;
    if (has_sinks_of_previous(hazard)) continue;
    sinks_ = sinks_of(program_, order_, hazards_[hazard]);
    next_sink_ = 0;
  }
  Result<Schedule> made = schedule_of(program_, order_, sinks_[next_sink_++].displacements);
  if (is_stopped()) return false;
  INTERLOCK_CHECK(made.has_value());
  schedule = std::move(made).value();
  return true;
}

std::string DirectedStrategy::schedule_name() const {
  return "sink: " + text_of(program_, head_of(sinks_[next_sink_ - 1].displacements));
}

std::unique_ptr<Strategy> directed_strategy(const Program& program, const HappensBefore& order,
                                            const StrategyOptions& options) {
  return std::make_unique<DirectedStrategy>(program, order, options);
}

}  // namespace interlock
