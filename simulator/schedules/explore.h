// Explore: tries schedules of a program on the shadow machine and says which end differently.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/strategy.h"

namespace interlock {

struct TriedSchedule {
  std::string name;                 // Strategy::schedule_name(), or "random 17".
  bool differs_strictly = false;    // Some read or some byte differs from reference order.
  bool differs_observably = false;  // Some live byte does.
};

struct Exploration {
  std::vector<TriedSchedule> tried;
  uint64_t strict_count = 0;      // Of `tried`, those that differ strictly,
  uint64_t observable_count = 0;  // and observably.
  std::string claim;              // Strategy::claim().
  // The first schedule that differs observably, or, if none does, strictly; none if all agree.
  std::optional<uint64_t> first_different;  // Into `tried`.
  std::vector<Displacement> witness;        // That schedule, shrunk. Legal, and still different.
  // With several queues, where no witness line says that schedule: its steps (queue_witness.h).
  std::string steps;
};

// Tries options.schedule_count schedules of the strategy, or all if there are fewer. `announce` is
// told Strategy::announcement() before the first of them runs.
// Requires: a program with several queues or the host is in reference order, without a deadlock.
// The same program, strategy and options give the same exploration everywhere.
// Cost: two shadow runs per schedule.
Exploration explore(const Program& program, const StrategyEntry& entry,
                    const StrategyOptions& options = {},
                    const std::function<void(std::string_view)>& announce = {});

}  // namespace interlock
