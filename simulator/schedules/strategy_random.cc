// A random walk through the legal steps. The idea: keep the steps that may come next in a pool, and
// draw one. Every linear extension is one sequence of draws, so every schedule can come up, though
// not each with the same chance.
#include "simulator/schedules/strategy_random.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/late_writes.h"
#include "simulator/schedules/queue_strategies.h"
#include "simulator/schedules/queue_walk.h"

namespace interlock {
namespace {

class RandomWalk {
 public:
  RandomWalk(const Program& program, const HappensBefore& order, Choice& choice)
      : program_(program),
        order_(order),
        choice_(choice),
        states_(program.dispatches.size()),
        late_writes_(program, order) {}

  Schedule walk();

 private:
  struct State {
    uint32_t pieces_left = 0;
    bool is_late = false;
    bool is_done = false;  // Has run and committed.
  };

  void admit();
  void admit_by_stage();
  void admit_dispatch(DispatchId dispatch);
  bool may_be_late(DispatchId dispatch) const;
  void take(const Step& step);
  void take_run(const Step& step);
  void take_commit(const Step& step);
  void commit_forced(DispatchId dispatch);
  void advance_prefixes();

  const Program& program_;
  const HappensBefore& order_;
  Choice& choice_;
  std::vector<State> states_;
  std::vector<Step> pool_;       // Legal now.
  size_t next_ = 0;              // Dispatches [0, next_) have been admitted to the pool.
  size_t run_prefix_ = 0;        // Dispatches [0, run_prefix_) have run.
  size_t committed_prefix_ = 0;  // Dispatches [0, committed_prefix_) have run and committed.
  // With scopes. Of each stage, the dispatches before these have been admitted, and have run.
  std::array<size_t, kDispatchStageCount> stage_next_{};
  std::array<size_t, kDispatchStageCount> stage_prefix_{};
  LateWrites late_writes_;
  size_t late_count_ = 0;  // Dispatches that commit late, admitted and not done.
  Schedule schedule_;
};

Schedule RandomWalk::walk() {
  pool_.reserve(states_.size());
  schedule_.steps.reserve(2 * states_.size());
  advance_prefixes();
  admit();
  while (!pool_.empty() && !is_stopped()) {
    const auto drawn = static_cast<size_t>(choice_.below(pool_.size()));
    const Step step = pool_[drawn];
    pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(drawn));
    take(step);
    admit();
  }
  return std::move(schedule_);
}

// The clocks of a stage never decrease, so the first of its dispatches that may not run yet keeps
// all later ones out.
void RandomWalk::admit_by_stage() {
  const ScopedOrder& order = order_.scopes();
  for (size_t t = 0; t < kDispatchStageCount; ++t) {
    size_t& next = stage_next_[t];
    for (; next < states_.size(); ++next) {
      const DispatchId dispatch(next);
      if (order.stage_of(dispatch) != static_cast<Stage>(t)) continue;
      bool may_run = true;
      for (size_t s = 0; s < kDispatchStageCount; ++s) {
        may_run &= stage_prefix_[s] >= order.unfinished_begin(static_cast<Stage>(s), dispatch);
      }
      if (!may_run) break;
      admit_dispatch(dispatch);
    }
  }
}

// Epochs begin in issue order, so the first dispatch that may not run yet keeps all later ones out.
void RandomWalk::admit() {
  if (order_.has_scopes()) {
    admit_by_stage();
    return;
  }
  for (; next_ < states_.size(); ++next_) {
    const DispatchId dispatch(next_);
    if (run_prefix_ < order_.execution_epoch_begin(dispatch).index) return;
    if (committed_prefix_ < order_.memory_epoch_begin(dispatch).index) return;
    admit_dispatch(dispatch);
  }
}

void RandomWalk::admit_dispatch(DispatchId dispatch) {
  State& state = states_[dispatch.index];
  state.is_late = may_be_late(dispatch) && choice_.chance(1, 4);
  late_count_ += state.is_late ? 1 : 0;
  const StepKind kind = state.is_late ? StepKind::kRunLate : StepKind::kRun;
  const Step whole = whole_step(program_, dispatch, kind);
  if (whole.slice_count == 1 || !choice_.chance(1, 4)) {
    state.pieces_left = 1;
    pool_.push_back(whole);
    return;
  }
  const auto cut = static_cast<uint32_t>(1 + choice_.below(whole.slice_count - 1));
  state.pieces_left = 2;
  pool_.push_back({kind, dispatch, 0, cut});
  pool_.push_back({kind, dispatch, cut, whole.slice_count - cut});
}

// Nothing can tell when a dispatch commits that is alone in its memory epoch, or writes nothing.
bool RandomWalk::may_be_late(DispatchId dispatch) const {
  if (!writes_anything(program_, dispatch)) return false;
  if (order_.has_scopes()) return late_count_ < LateWrites::kCountMax;
  const uint32_t epoch = order_.memory_epoch(dispatch);
  const bool is_alone = order_.memory_epoch_begin(dispatch) == dispatch &&
                        (dispatch.index + 1 == states_.size() ||
                         order_.memory_epoch(DispatchId(size_t{dispatch.index} + 1)) != epoch);
  return !is_alone;
}

void RandomWalk::take(const Step& step) {
  if (step.kind == StepKind::kCommit) {
    take_commit(step);
  } else {
    take_run(step);
  }
  advance_prefixes();
}

void RandomWalk::take_commit(const Step& step) {
  std::vector<Step>& steps = schedule_.steps;
  states_[step.dispatch.index].is_done = true;
  // A commit right after its only run is an ordinary run.
  if (steps.back() == whole_step(program_, step.dispatch, StepKind::kRunLate)) {
    steps.back().kind = StepKind::kRun;
  } else {
    steps.push_back(step);
  }
  --late_count_;
  late_writes_.remove(step.dispatch);
}

void RandomWalk::take_run(const Step& step) {
  State& state = states_[step.dispatch.index];
  std::vector<Step>& steps = schedule_.steps;
  if (order_.has_scopes()) commit_forced(step.dispatch);
  // Slices of one dispatch do not conflict: two pieces with nothing between them are one.
  if (!steps.empty() && steps.back().dispatch == step.dispatch) {
    steps.back() = whole_step(program_, step.dispatch, step.kind);
  } else {
    steps.push_back(step);
  }
  if (state.is_late && order_.has_scopes()) late_writes_.add(step.dispatch);
  if (--state.pieces_left > 0) return;
  if (state.is_late) {
    pool_.push_back(whole_step(program_, step.dispatch, StepKind::kCommit));
  } else {
    state.is_done = true;
  }
}

// With epochs nothing is admitted that a waiting write keeps out. Here that depends on the bytes.
void RandomWalk::commit_forced(DispatchId dispatch) {
  while (const std::optional<DispatchId> forced = late_writes_.find_forced(dispatch)) {
    const Step commit = whole_step(program_, *forced, StepKind::kCommit);
    const auto at = std::ranges::find(pool_, commit);
    INTERLOCK_CHECK(at != pool_.end());
    pool_.erase(at);
    take_commit(commit);
  }
}

void RandomWalk::advance_prefixes() {
  while (run_prefix_ < next_ && states_[run_prefix_].pieces_left == 0) ++run_prefix_;
  while (committed_prefix_ < run_prefix_ && states_[committed_prefix_].is_done) {
    ++committed_prefix_;
  }
  if (!order_.has_scopes()) return;
  for (size_t s = 0; s < kDispatchStageCount; ++s) {
    size_t& prefix = stage_prefix_[s];
    while (prefix < states_.size() &&
           (order_.scopes().stage_of(DispatchId(prefix)) != static_cast<Stage>(s) ||
            (prefix < stage_next_[s] && states_[prefix].pieces_left == 0))) {
      ++prefix;
    }
  }
}

class RandomStrategy final : public Strategy {
 public:
  RandomStrategy(const Program& program, const HappensBefore& order, uint64_t seed)
      : program_(program), order_(order), choice_(seed) {}

  bool next(Schedule& schedule) override {
    schedule = random_schedule(program_, order_, choice_);
    return true;
  }

 private:
  const Program& program_;
  const HappensBefore& order_;
  SeededChoice choice_;
};

}  // namespace

Schedule random_schedule(const Program& program, const HappensBefore& order, Choice& choice) {
  if (order.has_queues()) return random_queue_schedule(program, choice);
  return RandomWalk(program, order, choice).walk();
}

std::unique_ptr<Strategy> random_strategy(const Program& program, const HappensBefore& order,
                                          const StrategyOptions& options) {
  if (order.has_queues()) return random_of_queues(program, order, options);
  return std::make_unique<RandomStrategy>(program, order, options.seed);
}

}  // namespace interlock
