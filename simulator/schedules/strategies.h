// Strategies: which schedules of a program to try. One policy per file; each yields legal
// schedules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/natural.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// T5's deciding runs besides issue order (strategy_three.cc): the epoch-reversed run executes each
// execution epoch backwards; the lazy run commits the writes of each memory epoch at its end, in
// reverse.
Schedule epoch_reversed_schedule(const Program& program, const HappensBefore& order);
Schedule lazy_schedule(const Program& program, const HappensBefore& order);

// T6 (strategy_directed.cc): the sink of a hazard moves its first dispatch, with what must follow
// it, to right after the second; a hazard that is ordered but not visible commits late instead.
// Requires: no scopes, or the two are in no order.
std::vector<Displacement> sink_of(const Program& program, const HappensBefore& order,
                                  const Hazard& hazard);

// T6 for any barriers (split_sinks.cc): schedules of which one changes a live read of the hazard's
// own steps, if any execution does. One sink_of(), unless scoped barriers order the two: then one
// for each way in which they treat the bytes, and none where no read can miss the write: the second
// dispatch overwrites what is available to it, or its atomics fetch as they commit.
// Cost: for each run of bytes that operands of barriers tell apart, the statements and operands
// between the two. They are taken from `steps_left`, if given; where it is too small it ends at 0,
// and sinks may be missing.
struct Sink {
  std::vector<Displacement> displacements;
  // What it is to fetch early: schedule_of() prefers it.
  std::optional<StepBytes> wanted = {};

  const StepBytes* wanted_bytes() const { return wanted.has_value() ? &*wanted : nullptr; }
  bool operator==(const Sink&) const = default;
};
std::vector<Sink> sinks_of(const Program& program, const HappensBefore& order, const Hazard& hazard,
                           uint64_t* steps_left = nullptr);

// A random legal schedule (strategy_random.cc): a random linear extension, dispatches sometimes
// split in two pieces, commits sometimes late.
Schedule random_schedule(const Program& program, const HappensBefore& order, Choice& choice);

// Every trace once (strategy_exhaustive.cc): a trace is a class of schedules that differ only in
// the order of steps that do not conflict, so one schedule of each is all there is to see. Without
// a hazard there is one trace (T1).
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
struct ExhaustiveOptions {
  bool combines_groups = false;
  uint64_t schedule_limit = 1000;
  uint64_t count_work_limit = 1u << 21;  // Of count_traces(), for all groups.
};

struct ExhaustivePlan {
  bool are_units_slices = false;
  // Some unit with a hazard has several slices; then how many traces there were with these apart,
  // unless that is unknown.
  bool joins_slices = false;
  bool is_slice_trace_count_known = false;
  bool is_slice_trace_count_exact = true;  // Else it is an upper bound.
  Natural slice_trace_count;
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

class ExhaustiveSchedules {
 public:
  // Requires: `order` was built from `program`, and `hazards` are all of its hazards, or the first
  // of them (`is_truncated`), as find_all_hazards() gives them; all outlive this.
  ExhaustiveSchedules(const Program& program, const HappensBefore& order,
                      std::span<const Hazard> hazards, bool is_truncated,
                      const ExhaustiveOptions& options);
  ~ExhaustiveSchedules();
  ExhaustiveSchedules(ExhaustiveSchedules&&) noexcept;
  ExhaustiveSchedules& operator=(ExhaustiveSchedules&&) noexcept;

  // Known before the first schedule is made.
  const ExhaustivePlan& plan() const;

  // Replaces `schedule` by one of the next trace other than issue order; groups take turns. False
  // when all have been made.
  // Cost: that of TraceEnumerator::advance() and TraceSchedule::schedule_of().
  bool next(Schedule& schedule);

  // The hazards whose reversal implies the others', e.g. "vjp before reduce, and 2 more".
  std::string name() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Probabilistic concurrency testing (strategy_pct.cc): Burckhardt, Kothari, Musuvathi, Nagarakatte,
// "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010. Each of n
// dispatches has a random priority, and the most urgent one that may run does; depth - 1 times, at
// random steps, the dispatch at hand becomes the least urgent. If `depth` order constraints between
// steps suffice for a difference, one schedule shows it with probability at least
// 1/(n * k^(depth-1)), where k is the number of steps: one per slice, and one per commit.
struct PctOptions {
  uint64_t depth = 2;  // At least 1.
};

class PctSchedules {
 public:
  // Requires: `order` was built from `program`; both outlive this.
  // Cost: a question per pair of dispatches in one epoch, or per pair without epochs.
  PctSchedules(const Program& program, const HappensBefore& order, const PctOptions& options);

  uint64_t dispatch_count() const { return dispatches_.size(); }  // n
  uint64_t step_count() const { return step_count_; }             // k

  // Cost: O((n + depth) log n), and at most a question per pair of dispatches in neighbouring
  // epochs, or per pair without epochs.
  Schedule schedule(Choice& choice) const;

 private:
  struct Steps {
    uint32_t slice_count = 1;
    bool writes = false;  // Commits in a step of its own.

    uint64_t count() const { return uint64_t{slice_count} + (writes ? 1 : 0); }
  };
  class Run;

  const Program& program_;
  const HappensBefore& order_;
  PctOptions options_;
  std::vector<Steps> dispatches_;
  std::vector<uint32_t> held_by_;  // By dispatch: none from here on up to itself is before it.
  uint64_t step_count_ = 0;
};

}  // namespace interlock
