// What a strategy says about itself: before it starts, and when it is done.
#pragma once

#include <string>

#include "simulator/schedules/strategy_exhaustive.h"
#include "simulator/schedules/strategy_pct.h"

namespace interlock {

// How many traces and schedules there are, and of what. Full lines.
std::string announcement_of(const ExhaustivePlan& plan, const ExhaustiveOptions& options,
                            bool has_late_commits);

// Whether all traces were tried, of what. A full line.
std::string claim_of(const ExhaustivePlan& plan, const ExhaustiveOptions& options,
                     bool is_complete);

// The probability that PCT guarantees. A full line.
std::string announcement_of(const PctSchedules& pct, uint64_t depth);

}  // namespace interlock
