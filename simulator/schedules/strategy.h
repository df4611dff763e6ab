// Strategy: which schedules of a program to try. Each strategy is a file; the registry has a line
// for each, and whoever tries schedules knows this interface only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// What a strategy may be told. Each uses the options that name it, and ignores the others.
struct StrategyOptions {
  uint64_t schedule_count = 1000;  // At most so many are asked for.
  uint64_t seed = 1;               // Of "random" and "pct".
  uint64_t depth = 2;              // Of "pct": order constraints that a schedule is to meet.
  bool combines_groups = false;    // Of "exhaustive": the product of groups, not one at a time.
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  // What is known before the first schedule is made: how many there are, or the odds of each.
  // Lines of text, perhaps none.
  virtual std::string announcement() const { return {}; }

  // Replaces `schedule` by the next one to try, which is legal. Returns false when there is none,
  // or when a stop (stop.h) came meanwhile; a schedule that is made in spite of a stop means
  // nothing. Requires: no stop came before.
  virtual bool next(Schedule& schedule) = 0;

  // Of the schedule that next() made last, e.g. "sink: reduce after vjp"; none if the name of the
  // strategy and a number will do: "random 17". Requires: next() returned true.
  virtual std::string schedule_name() const { return {}; }

  // What the schedules so far say together. Lines of text, perhaps none.
  // Requires: nothing is asked for after it.
  virtual std::string claim() { return {}; }
};

// Makes a strategy. The same program and options make the same schedules everywhere.
// Requires: `order` was built from `program`; both outlive the strategy; depth > 0.
using StrategyFactory = std::unique_ptr<Strategy>(const Program& program,
                                                  const HappensBefore& order,
                                                  const StrategyOptions& options);

// A registered strategy.
struct StrategyEntry {
  std::string_view name;
  std::string_view summary;  // One line for `interlock list strategies`.
  StrategyFactory* make;
};

// With several queues or the host each does what queue_strategies.h says.
//
// With scoped barriers "three" tries what "directed" does, and its claim says so; "exhaustive" and
// "pct" then try sinks first, of hazards that are ordered but not visible: no order of runs shows
// these.
std::span<const StrategyEntry> strategy_registry();

// Returns null if there is none of this name.
const StrategyEntry* find_strategy(std::string_view name);

}  // namespace interlock
