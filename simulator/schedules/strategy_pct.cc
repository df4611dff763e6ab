// The idea: whoever has the lowest priority runs last, so one random choice of it gives one order
// constraint, however long the program is; each change of priority gives one more.
//
// A dispatch waits for one that holds it back, the latest; when that one is done, the search goes
// on from there to earlier ones. So each pair is asked about once, and with epochs few pairs are.
#include "simulator/schedules/strategy_pct.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/natural.h"
#include "simulator/schedules/queue_strategies.h"
#include "simulator/schedules/strategy_directed.h"

namespace interlock {

PctSchedules::PctSchedules(const Program& program, const HappensBefore& order, uint64_t depth)
    : program_(program), order_(order), depth_(depth) {
  INTERLOCK_CHECK(depth >= 1);
  dispatches_.reserve(program.dispatches.size());
  for (size_t d = 0; d < program.dispatches.size(); ++d) {
    // With scoped barriers nothing commits late.
    const bool commits = !order.has_scopes() && writes_anything(program, DispatchId(d));
    dispatches_.push_back({program.dispatches[d].slice_count, commits});
    step_count_ += dispatches_.back().count();
  }
  for (uint32_t d = 0; d < dispatches_.size(); ++d) {
    uint32_t held_by = is_stopped() ? 0 : d;  // No schedule is asked for then.
    for (; held_by > 0; --held_by) {
      if (order.executes_before(DispatchId(size_t{held_by} - 1), DispatchId(size_t{d}))) break;
    }
    held_by_.push_back(held_by);
  }
}

class PctSchedules::Run {
 public:
  Run(const PctSchedules& pct, Choice& choice);

  Schedule run();

 private:
  struct State {
    uint64_t priority = 0;    // The higher, the more urgent.
    uint64_t steps_done = 0;  // Slices, then the commit.
    uint32_t held_by = 0;     // None from here on up to itself holds it back.
    bool is_late = false;     // Others ran between its slices and its commit.
    std::vector<uint32_t> waiting;
  };
  using Ready = std::pair<uint64_t, uint32_t>;   // Priority, dispatch.
  using Change = std::pair<uint64_t, uint64_t>;  // Before which step, to which priority.

  bool has_run(uint32_t d) const {
    return states_[d].steps_done >= pct_.dispatches_[d].slice_count;
  }
  bool is_done(uint32_t d) const { return states_[d].steps_done == pct_.dispatches_[d].count(); }
  bool holds_back(uint32_t first, uint32_t second) const;
  void admit(uint32_t dispatch);
  void release(uint32_t dispatch);
  void take_steps(uint32_t dispatch, uint64_t count);
  void append_run(uint32_t dispatch, uint32_t first_slice, uint32_t slice_count);
  Schedule finish();

  const PctSchedules& pct_;
  std::vector<State> states_;
  std::vector<Change> changes_;  // Those to come, descending.
  std::priority_queue<Ready> ready_;
  uint32_t done_prefix_ = 0;  // Dispatches before it are done.
  uint64_t steps_done_ = 0;
  Schedule schedule_;  // Commits are all there, and runs are not late, until finish().
};

PctSchedules::Run::Run(const PctSchedules& pct, Choice& choice)
    : pct_(pct), states_(pct.dispatches_.size()) {
  const uint64_t depth = pct.depth_;
  std::vector<uint64_t> priorities(states_.size());
  for (size_t i = 0; i < priorities.size(); ++i) {  // Fisher and Yates, inside out.
    const auto j = static_cast<size_t>(choice.below(i + 1));
    priorities[i] = priorities[j];
    priorities[j] = depth + i;
  }
  for (size_t i = 0; i < states_.size(); ++i) states_[i].priority = priorities[i];
  for (uint64_t i = 1; i < depth && pct.step_count_ > 0; ++i) {
    changes_.emplace_back(choice.below(pct.step_count_), i);
  }
  std::ranges::sort(changes_, std::greater<>());
}

bool PctSchedules::Run::holds_back(uint32_t first, uint32_t second) const {
  const DispatchId a(size_t{first});
  const DispatchId b(size_t{second});
  if (!has_run(first) && pct_.order_.executes_before(a, b)) return true;
  // Beside scoped barriers nothing is written late.
  return !pct_.order_.has_scopes() && !is_done(first) &&
         pct_.order_.memory_epoch(a) < pct_.order_.memory_epoch(b);
}

// Puts the dispatch where it waits: after the latest one that holds it back, or among those ready.
void PctSchedules::Run::admit(uint32_t dispatch) {
  State& state = states_[dispatch];
  for (; state.held_by > done_prefix_; --state.held_by) {
    if (!holds_back(state.held_by - 1, dispatch)) continue;
    states_[state.held_by - 1].waiting.push_back(dispatch);
    return;
  }
  ready_.emplace(state.priority, dispatch);
}

void PctSchedules::Run::release(uint32_t dispatch) {
  while (done_prefix_ < states_.size() && is_done(done_prefix_)) ++done_prefix_;
  const std::vector<uint32_t> waiting = std::exchange(states_[dispatch].waiting, {});
  for (const uint32_t other : waiting) admit(other);
}

void PctSchedules::Run::append_run(uint32_t dispatch, uint32_t first_slice, uint32_t slice_count) {
  std::vector<Step>& steps = schedule_.steps;
  if (!steps.empty() && steps.back().dispatch.index == dispatch) {
    steps.back().slice_count += slice_count;
    return;
  }
  steps.push_back({StepKind::kRun, DispatchId(size_t{dispatch}), first_slice, slice_count});
}

void PctSchedules::Run::take_steps(uint32_t dispatch, uint64_t count) {
  State& state = states_[dispatch];
  const uint32_t slice_count = pct_.dispatches_[dispatch].slice_count;
  steps_done_ += count;
  if (state.steps_done < slice_count) {
    const auto first = static_cast<uint32_t>(state.steps_done);
    const auto ran = static_cast<uint32_t>(std::min<uint64_t>(count, slice_count - first));
    append_run(dispatch, first, ran);
    state.steps_done += ran;
    count -= ran;
  }
  if (count == 0) return;
  ++state.steps_done;
  std::vector<Step>& steps = schedule_.steps;
  if (steps.back().dispatch.index == dispatch) return;  // An ordinary run.
  state.is_late = true;
  steps.push_back(whole_step(pct_.program_, DispatchId(size_t{dispatch}), StepKind::kCommit));
}

Schedule PctSchedules::Run::run() {
  for (uint32_t d = 0; d < states_.size(); ++d) {
    states_[d].held_by = pct_.held_by_[d];
    admit(d);
  }
  while (!ready_.empty()) {
    const uint32_t dispatch = ready_.top().second;
    ready_.pop();
    State& state = states_[dispatch];
    if (!changes_.empty() && changes_.back().first == steps_done_) {
      state.priority = changes_.back().second;
      changes_.pop_back();
      ready_.emplace(state.priority, dispatch);
      continue;
    }
    // Nobody becomes ready before it has run its last slice or committed.
    const bool had_run = has_run(dispatch);
    uint64_t count = had_run ? 1 : pct_.dispatches_[dispatch].slice_count - state.steps_done;
    if (!changes_.empty()) count = std::min(count, changes_.back().first - steps_done_);
    take_steps(dispatch, count);
    if (!is_done(dispatch)) ready_.emplace(state.priority, dispatch);
    if (has_run(dispatch)) release(dispatch);
  }
  return finish();
}

Schedule PctSchedules::Run::finish() {
  INTERLOCK_CHECK(done_prefix_ == states_.size());
  for (Step& step : schedule_.steps) {
    if (step.kind == StepKind::kRun && states_[step.dispatch.index].is_late) {
      step.kind = StepKind::kRunLate;
    }
  }
  return std::move(schedule_);
}

Schedule PctSchedules::schedule(Choice& choice) const { return Run(*this, choice).run(); }

namespace {

class PctStrategy final : public Strategy {
 public:
  PctStrategy(const Program& program, const HappensBefore& order, const StrategyOptions& options)
      : schedules_(program, order, options.depth), depth_(options.depth), choice_(options.seed) {}

  std::string announcement() const override;

  bool next(Schedule& schedule) override {
    schedule = schedules_.schedule(choice_);
    return true;
  }

 private:
  PctSchedules schedules_;
  uint64_t depth_;
  SeededChoice choice_;
};

std::string PctStrategy::announcement() const {
  const uint64_t dispatch_count = schedules_.dispatch_count();
  const uint64_t step_count = schedules_.step_count();
  return pct_odds_text(
      fmt::format("{} with {}", counted(Natural(dispatch_count), "dispatch", "dispatches"),
                  counted(Natural(step_count), "step", "steps")),
      dispatch_count, step_count, depth_);
}

}  // namespace

// The probability that is guaranteed.
std::string pct_odds_text(std::string_view counts, uint64_t priority_count, uint64_t step_count,
                          uint64_t depth) {
  std::string denominator = fmt::format("{}", priority_count);
  if (depth == 2) denominator = fmt::format("({} * {})", priority_count, step_count);
  if (depth > 2) denominator = fmt::format("({} * {}^{})", priority_count, step_count, depth - 1);
  return fmt::format(
      "{} in all: if some schedule meets {}, each of these does with probability at least 1/{}.\n",
      counts, depth == 1 ? "an order constraint" : fmt::format("{} order constraints", depth),
      denominator);
}

std::unique_ptr<Strategy> pct_strategy(const Program& program, const HappensBefore& order,
                                       const StrategyOptions& options) {
  if (order.has_queues()) return pct_of_queues(program, order, options);
  auto random = std::make_unique<PctStrategy>(program, order, options);
  if (!order.has_scopes()) return random;
  // So that sinks leave room: most hazards have one each. The odds are of each schedule after them.
  std::vector<Hazard> hazards =
      find_all_hazards(program, order, options.schedule_count / 2).hazards;
  return after_sinks_of_visibility(program, order, std::move(hazards), std::move(random));
}

}  // namespace interlock
