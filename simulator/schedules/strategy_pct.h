// Strategy "pct": probabilistic concurrency testing; Burckhardt, Kothari, Musuvathi, Nagarakatte,
// "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010. Each of n
// dispatches has a random priority, and the most urgent one that may run does; depth - 1 times, at
// random steps, the dispatch at hand becomes the least urgent. If `depth` order constraints between
// steps suffice for a difference, one schedule shows it with probability at least
// 1/(n * k^(depth-1)), where k is the number of steps: one per slice, and one per commit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/strategy.h"

namespace interlock {

class PctSchedules {
 public:
  // Requires: `order` was built from `program`; both outlive this; depth > 0.
  // Cost: a question per pair of dispatches in one epoch, or per pair without epochs.
  PctSchedules(const Program& program, const HappensBefore& order, uint64_t depth);

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
  uint64_t depth_;
  std::vector<Steps> dispatches_;
  std::vector<uint32_t> held_by_;  // By dispatch: none from here on up to itself is before it.
  uint64_t step_count_ = 0;
};

// The line that says the odds: n that have a priority, k steps in all. `counts` says them.
std::string pct_odds_text(std::string_view counts, uint64_t priority_count, uint64_t step_count,
                          uint64_t depth);

// With several queues or the host: by parts of operations (queue_walk.h).
StrategyFactory pct_strategy;

}  // namespace interlock
