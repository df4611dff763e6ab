// Strategy "exhaustive": every trace once. A trace is a class of schedules that differ only in the
// order of steps that do not conflict, so one schedule of each is all there is to see. Without a
// hazard there is one trace (T1).
//
// The traces are a product over groups: parts of the hazard graph that do not constrain each other,
// its components in each epoch (T2, trace_groups.h). By default one group varies at a time, and the
// others stay in issue order: a sum instead of a product. This decides as much. If some trace
// differs strictly, there is a hazard, and reversing it alone in its group differs. If some trace
// changes an output, then, under the conditions of T6, some sink does; and a sink moves units of
// one group only. Combined, all traces of the program are made.
//
// The unit is the slice, if the number of schedules is then known and within the limit; else the
// dispatch, and then what is decided concerns schedules that run dispatches whole.
// Late commits are no part of a trace: the lazy run stands for them (T5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/natural.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/strategy.h"
#include "simulator/schedules/trace_count.h"
#include "simulator/schedules/trace_groups.h"
#include "simulator/schedules/trace_schedule.h"
#include "simulator/schedules/trace_turns.h"
#include "simulator/schedules/trace_units.h"

namespace interlock {

struct ExhaustivePlan {
  bool are_units_slices = false;
  // Some unit with a hazard has several slices; then how many traces there were with these apart,
  // unless that is unknown.
  bool joins_slices = false;
  std::optional<TraceCount> slice_traces;
  // There are more hazards than we enumerate. All numbers concern those that we do: an exact number
  // of traces is a lower bound then. The traces made are still distinct.
  bool is_truncated = false;
  uint64_t hazard_count = 0;  // Between units; those that no dependency orders.
  uint64_t unit_count = 0;    // With a hazard.
  uint64_t group_count = 0;
  Natural trace_count;     // Of the program, issue order included.
  Natural schedule_count;  // To be made: one per trace other than issue order.
  bool is_exact = true;    // Else both counts are upper bounds.
};

// What varies: units and the groups of their hazards.
struct ExhaustiveGraph {
  TraceUnits units;
  std::vector<TraceGroup> groups;
  ExhaustivePlan plan;
};

class ExhaustiveSchedules {
 public:
  // Requires: `order` was built from `program`, and `list` is what find_all_hazards() gives; the
  // first two outlive this.
  ExhaustiveSchedules(const Program& program, const HappensBefore& order, const HazardList& list,
                      const StrategyOptions& options);
  ExhaustiveSchedules(const ExhaustiveSchedules&) = delete;
  ExhaustiveSchedules& operator=(const ExhaustiveSchedules&) = delete;

  // Known before the first schedule is made.
  const ExhaustivePlan& plan() const { return graph_.plan; }

  // Replaces `schedule` by one of the next trace other than issue order; groups take turns. False
  // when all have been made.
  // Cost: that of TraceEnumerator::advance() and TraceSchedule::schedule_of().
  bool next(Schedule& schedule);

  // The hazards whose reversal implies the others', e.g. "vjp before reduce, and 2 more".
  std::string name() const;

 private:
  const Program& program_;
  const ExhaustiveGraph graph_;
  TraceTurns turns_;
  TraceSchedule linearizer_;
};

// With the lazy run first, where hazards are ordered, but not visible.
StrategyFactory exhaustive_strategy;

}  // namespace interlock
