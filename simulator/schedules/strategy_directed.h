// Strategy "directed": the sinks of each hazard (sinks.h), which show it and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy.h"

namespace interlock {

// Hazards of one pair of dispatches: RAW, WAR and WAW.
inline constexpr uint64_t kKindsOfPairMax = 3;

// Cost: that of find_all_hazards().
StrategyFactory directed_strategy;

// The same for another strategy, which claims something.
std::unique_ptr<Strategy> directed_strategy(const Program& program, const HappensBefore& order,
                                            const StrategyOptions& options, std::string claim);

// `strategy`, which tries orders of runs, after the sinks of what none of these shows: those of
// `hazards` that scoped barriers order and leave invisible. Is `strategy` where there is none.
// Requires: one queue. Cost: linear in the hazards.
std::unique_ptr<Strategy> after_sinks_of_visibility(const Program& program,
                                                    const HappensBefore& order,
                                                    std::vector<Hazard> hazards,
                                                    std::unique_ptr<Strategy> strategy);

}  // namespace interlock
