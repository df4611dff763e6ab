// The strategies by name. The first one is tried unless another is asked for.
#include "simulator/schedules/strategy.h"

#include <array>

#include "encoder/program/registry.h"
#include "simulator/schedules/strategy_directed.h"
#include "simulator/schedules/strategy_exhaustive.h"
#include "simulator/schedules/strategy_pct.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"

namespace interlock {
namespace {

constexpr std::array kStrategies = {
    StrategyEntry{"three", "issue order, each epoch reversed, late commits: decides one queue",
                  &three_strategy},
    StrategyEntry{"directed", "one schedule per hazard, its sink", &directed_strategy},
    StrategyEntry{"exhaustive", "every trace once, and how many there are", &exhaustive_strategy},
    StrategyEntry{"random", "seeded random schedules", &random_strategy},
    StrategyEntry{"pct", "seeded random priorities: a bound on the odds of each schedule",
                  &pct_strategy},
};

}  // namespace

std::span<const StrategyEntry> strategy_registry() { return kStrategies; }

const StrategyEntry* find_strategy(std::string_view name) {
  return find_entry(strategy_registry(), name);
}

}  // namespace interlock
