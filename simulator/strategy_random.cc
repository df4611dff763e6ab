// A random walk through the legal steps. The idea: keep the steps that may come next in a pool, and
// draw one. Every linear extension is one sequence of draws, so every schedule can come up, though
// not each with the same chance.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "simulator/strategies.h"

namespace interlock {
namespace {

class RandomWalk {
 public:
  RandomWalk(const Program& program, const HappensBefore& order, Choice& choice)
      : program_(program), order_(order), choice_(choice), states_(program.dispatches.size()) {}

  Schedule walk();

 private:
  struct State {
    uint32_t pieces_left = 0;
    bool is_late = false;
    bool is_done = false;  // Has run and committed.
  };

  void admit();
  void admit_dispatch(DispatchId dispatch);
  bool may_be_late(DispatchId dispatch) const;
  void take(const Step& step);

  const Program& program_;
  const HappensBefore& order_;
  Choice& choice_;
  std::vector<State> states_;
  std::vector<Step> pool_;       // Legal now.
  size_t next_ = 0;              // Dispatches [0, next_) have been admitted to the pool.
  size_t run_prefix_ = 0;        // Dispatches [0, run_prefix_) have run.
  size_t committed_prefix_ = 0;  // Dispatches [0, committed_prefix_) have run and committed.
  Schedule schedule_;
};

Schedule RandomWalk::walk() {
  admit();
  while (!pool_.empty()) {
    const auto drawn = static_cast<size_t>(choice_.below(pool_.size()));
    const Step step = pool_[drawn];
    pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(drawn));
    take(step);
    admit();
  }
  return std::move(schedule_);
}

// Epochs begin in issue order, so the first dispatch that may not run yet keeps all later ones out.
void RandomWalk::admit() {
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
  const uint32_t epoch = order_.memory_epoch(dispatch);
  const bool is_alone = order_.memory_epoch_begin(dispatch) == dispatch &&
                        (dispatch.index + 1 == states_.size() ||
                         order_.memory_epoch(DispatchId(size_t{dispatch.index} + 1)) != epoch);
  if (is_alone) return false;
  const auto accesses = program_.accesses_of(dispatch);
  return std::any_of(accesses.begin(), accesses.end(),
                     [](const Access& access) { return !access.only_reads(); });
}

void RandomWalk::take(const Step& step) {
  State& state = states_[step.dispatch.index];
  std::vector<Step>& steps = schedule_.steps;
  if (step.kind == StepKind::kCommit) {
    state.is_done = true;
    // A commit right behind its only run is an ordinary run.
    if (steps.back() == whole_step(program_, step.dispatch, StepKind::kRunLate)) {
      steps.back().kind = StepKind::kRun;
    } else {
      steps.push_back(step);
    }
  } else {
    // Slices of one dispatch do not conflict: two pieces with nothing between them are one.
    if (!steps.empty() && steps.back().dispatch == step.dispatch) {
      steps.back() = whole_step(program_, step.dispatch, step.kind);
    } else {
      steps.push_back(step);
    }
    if (--state.pieces_left > 0) return;
    if (state.is_late) {
      pool_.push_back(whole_step(program_, step.dispatch, StepKind::kCommit));
    } else {
      state.is_done = true;
    }
  }
  while (run_prefix_ < next_ && states_[run_prefix_].pieces_left == 0) ++run_prefix_;
  while (committed_prefix_ < run_prefix_ && states_[committed_prefix_].is_done) {
    ++committed_prefix_;
  }
}

}  // namespace

Schedule random_schedule(const Program& program, const HappensBefore& order, Choice& choice) {
  return RandomWalk(program, order, choice).walk();
}

}  // namespace interlock
