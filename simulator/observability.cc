// The basic idea is to ask the two deciding runs first: if neither changes an output, no schedule
// does, and all hazards are settled at once. Otherwise each hazard has its own schedule, its sink,
// which reverses that pair and nothing else that matters.
#include "simulator/observability.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "encoder/check.h"
#include "simulator/schedule.h"
#include "simulator/shadow_machine.h"
#include "simulator/strategies.h"
#include "simulator/witness.h"

namespace interlock {

namespace {

class ObservabilityJudge {
 public:
  ObservabilityJudge(const Program& program, const HappensBefore& order, uint64_t budget)
      : program_(program),
        order_(order),
        budget_(budget),
        machine_(program),
        reference_(machine_.run(issue_order_schedule(program), ShadowMode::kObservable)) {
    executed_ = program.dispatches.size();
  }

  bool has_budget(uint64_t run_count) const {
    return executed_ + run_count * program_.dispatches.size() <= budget_;
  }

  std::vector<uint32_t> changed_outputs(const Schedule& schedule) {
    executed_ += program_.dispatches.size();
    return machine_.differing_outputs(machine_.run(schedule, ShadowMode::kObservable), reference_);
  }

  bool changes_an_output(const Schedule& schedule) { return !changed_outputs(schedule).empty(); }

  // A deciding run that changes an output, if there is one.
  std::optional<Schedule> find_deciding_run() {
    for (const auto& make : {epoch_reversed_schedule, lazy_schedule}) {
      Schedule schedule = make(program_, order_);
      if (changes_an_output(schedule)) {
        return schedule;
      }
    }
    return std::nullopt;
  }

  // The verdict that the sink of `hazard` gives. The kinds of one pair share their sink.
  ObservabilityVerdict judge_by_sink(const Hazard& hazard) {
    std::vector<Displacement> sink = sink_of(program_, order_, hazard);
    if (last_.schedule == sink) {
      return last_;
    }
    if (!has_budget(1)) {
      return {};
    }
    const Result<Schedule> schedule = schedule_of(program_, order_, sink);
    INTERLOCK_CHECK(schedule.has_value());
    last_.changed_outputs = changed_outputs(*schedule);
    last_.proof = last_.changed_outputs.empty() ? ObservabilityProof::kOwnSchedule
                                                : ObservabilityProof::kOwnWitness;
    last_.schedule = std::move(sink);
    return last_;
  }

  // No sink changes an output, but `run` does: several hazards act together. Shrinks `run`.
  ObservabilityVerdict judge_together(const Schedule& run) {
    const uint64_t left = budget_ - std::min(budget_, executed_);
    const uint64_t attempt_limit = left / std::max<uint64_t>(program_.dispatches.size(), 1);
    std::vector<Displacement> witness = shrink_witness(
        program_, order_, displacements_of(program_, run),
        [this](const Schedule& schedule) { return changes_an_output(schedule); },
        std::min<uint64_t>(attempt_limit, 1000));
    const Result<Schedule> schedule = schedule_of(program_, order_, witness);
    INTERLOCK_CHECK(schedule.has_value());
    return {ObservabilityProof::kCommonWitness, std::move(witness), changed_outputs(*schedule)};
  }

 private:
  const Program& program_;
  const HappensBefore& order_;
  uint64_t budget_;
  uint64_t executed_ = 0;  // Dispatches, in all runs.
  ShadowMachine machine_;
  ShadowResult reference_;
  ObservabilityVerdict last_;  // Of the last sink that ran.
};

bool moves_pair(const std::vector<Displacement>& schedule, const Hazard& hazard) {
  return std::any_of(schedule.begin(), schedule.end(), [&](const Displacement& displacement) {
    const DispatchId first = hazard.first.dispatch;
    const DispatchId second = hazard.second.dispatch;
    return (displacement.moved == first && displacement.anchor == second) ||
           (displacement.moved == second && displacement.anchor == first);
  });
}

}  // namespace

std::vector<ObservabilityVerdict> judge_observability(const Program& program,
                                                      const HappensBefore& order,
                                                      std::span<const Hazard> hazards,
                                                      uint64_t budget_dispatch_count) {
  std::vector<ObservabilityVerdict> verdicts(hazards.size());
  if (hazards.empty() || 3 * program.dispatches.size() > budget_dispatch_count) {
    return verdicts;
  }
  ObservabilityJudge judge(program, order, budget_dispatch_count);
  const std::optional<Schedule> deciding_run = judge.find_deciding_run();
  bool is_explained = false;
  for (size_t i = 0; i < hazards.size(); ++i) {
    verdicts[i] = deciding_run.has_value()
                      ? judge.judge_by_sink(hazards[i])
                      : ObservabilityVerdict{ObservabilityProof::kDecidingRuns, {}, {}};
    is_explained = is_explained || verdicts[i].proof == ObservabilityProof::kOwnWitness;
  }
  if (deciding_run.has_value() && !is_explained) {
    ObservabilityVerdict together = judge.judge_together(*deciding_run);
    const auto moved = std::find_if(hazards.begin(), hazards.end(), [&](const Hazard& hazard) {
      return moves_pair(together.schedule, hazard);
    });
    const size_t at = moved == hazards.end() ? 0 : static_cast<size_t>(moved - hazards.begin());
    verdicts[at] = std::move(together);
  }
  return verdicts;
}

}  // namespace interlock
