// The basic idea is to ask the two deciding runs first: if neither changes an output, no schedule
// does, and all hazards are settled at once. Otherwise each hazard has its own schedule, its sink,
// which reverses that pair and nothing else that matters. What a listed hazard hides is judged
// after the listed ones, and only where these change nothing. With scoped barriers no few runs
// decide, but all sinks together do (T6).
#include "simulator/schedules/observability.h"

#include <algorithm>
#include <optional>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/hazards/hazard_pairs.h"
#include "simulator/order/host_atoms.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/queue_schedule.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/sinks.h"
#include "simulator/schedules/stale_host_copies.h"
#include "simulator/schedules/strategy_three.h"
#include "simulator/schedules/witness.h"

namespace interlock {

namespace {

// So many byte segments take as long as a dispatch that touches a few.
constexpr uint64_t kSegmentsPerDispatch = 64;

// And so many dispatches, dependencies and operands that are walked along.
constexpr uint64_t kStepsPerDispatch = 64;

class ObservabilityJudge {
 public:
  ObservabilityJudge(const Program& program, const HappensBefore& order, uint64_t budget)
      : program_(program), order_(order), budget_(budget), machine_(program) {
    run_work_ = std::max<uint64_t>(program.dispatches.size(),
                                   machine_.touched_segment_count() / kSegmentsPerDispatch);
  }

  // Comes before all other runs.
  void run_reference() {
    executed_ += run_work_;
    reference_ = machine_.run(reference_order_schedule(program_), ShadowMode::kObservable);
  }

  bool has_budget(uint64_t run_count) const { return executed_ + run_count * run_work_ <= budget_; }
  uint64_t work_left() const { return budget_ - std::min(budget_, executed_); }
  void spend(uint64_t work) { executed_ += work; }

  std::vector<uint32_t> changed_outputs(const Schedule& schedule) {
    executed_ += run_work_;
    return machine_.differing_outputs(machine_.run(schedule, ShadowMode::kObservable), reference_);
  }

  bool changes_an_output(const Schedule& schedule) { return !changed_outputs(schedule).empty(); }

  // A deciding run that changes an output, if there is one.
  std::optional<Schedule> find_deciding_run() {
    for (const auto& make : {epoch_reversed_schedule, lazy_schedule}) {
      Schedule schedule = make(program_, order_);
      if (changes_an_output(schedule)) return schedule;
    }
    return std::nullopt;
  }

  // The verdict that the sinks of `hazard` give. The kinds of one pair share them, unless scoped
  // barriers order it.
  ObservabilityVerdict judge_by_sinks(const Hazard& hazard) {
    const bool is_same_pair =
        last_.has_value() && last_->first == hazard.first.dispatch &&
        last_->second == hazard.second.dispatch &&
        (last_->kind == hazard.kind ||
         (!order_.has_queues() && (!order_.has_scopes() || !hazard.is_ordered)));
    if (is_same_pair) return last_->verdict;
    if (order_.has_queues()) return judge_on_queues(hazard);
    ObservabilityVerdict verdict;
    verdict.proof = ObservabilityProof::kOwnSchedule;
    const uint64_t step_limit = std::min(work_left(), UINT64_MAX / kStepsPerDispatch - 1);
    uint64_t steps_left = (1 + step_limit) * kStepsPerDispatch;
    std::vector<Sink> sinks = sinks_of(program_, order_, hazard, &steps_left);
    if (steps_left == 0) return {};
    const uint64_t walked = (1 + step_limit) - steps_left / kStepsPerDispatch;
    executed_ += walked;
    for (Sink& sink : sinks) {
      executed_ += walked / sinks.size();  // To spell it out.
      if (!has_budget(sink.wanted.has_value() ? 2 : 1)) return {};
      const Result<Schedule> schedule =
          schedule_of(program_, order_, sink.displacements, sink.wanted_bytes());
      if (!schedule && is_stopped()) return {};
      INTERLOCK_CHECK(schedule.has_value());
      std::vector<uint32_t> changed = changed_outputs(*schedule);
      if (changed.empty() && !verdict.schedule.empty()) continue;
      verdict.schedule = std::move(sink.displacements);
      if (changed.empty()) continue;
      verdict.changed_outputs = std::move(changed);
      verdict.proof = is_said_by(verdict.schedule, *schedule) ? ObservabilityProof::kOwnWitness
                                                              : ObservabilityProof::kOwnExecution;
      if (verdict.proof == ObservabilityProof::kOwnWitness) break;
    }
    last_ = {hazard.first.dispatch, hazard.second.dispatch, hazard.kind, verdict};
    return verdict;
  }

  // As judge_by_sinks(). A witness line may say more or less than a sink does.
  ObservabilityVerdict judge_on_queues(const Hazard& hazard) {
    const uint64_t step_limit = std::min(work_left(), UINT64_MAX / kStepsPerDispatch - 1);
    uint64_t steps_left = step_limit * kStepsPerDispatch;
    const std::vector<Schedule> sinks = queue_sinks_of(program_, hazard, steps_left);
    executed_ += step_limit - steps_left / kStepsPerDispatch;
    if (steps_left == 0 || !has_budget(sinks.size())) return {};
    ObservabilityVerdict verdict;
    verdict.proof = ObservabilityProof::kOwnSchedule;
    for (const Schedule& sink : sinks) {
      verdict.changed_outputs = changed_outputs(sink);
      if (!verdict.changed_outputs.empty()) break;
    }
    if (!sinks.empty()) say_by_lines(hazard, steps_left, verdict);
    if (verdict.changed_outputs.empty() && !judge_host_copies(hazard, verdict)) return {};
    last_ = {hazard.first.dispatch, hazard.second.dispatch, hazard.kind, verdict};
    return verdict;
  }

  // The witness lines that show what the sinks of the hazard do; where those change no output,
  // those that say one of them.
  void say_by_lines(const Hazard& hazard, uint64_t steps_left, ObservabilityVerdict& verdict) {
    const bool is_observable = !verdict.changed_outputs.empty();
    if (is_observable) verdict.proof = ObservabilityProof::kOwnExecution;
    for (std::vector<Displacement>& lines : queue_witnesses_of(hazard)) {
      if (is_stopped()) return;
      const uint64_t steps_before = steps_left;
      const Result<Schedule> said = queue_schedule_of(program_, lines, &steps_left);
      executed_ += (steps_before - steps_left) / kStepsPerDispatch;
      if (!said) continue;
      std::vector<uint32_t> changed = changed_outputs(*said);
      if (verdict.schedule.empty()) verdict.schedule = lines;
      if (changed.empty()) continue;
      verdict.proof = ObservabilityProof::kOwnWitness;
      verdict.schedule = std::move(lines);
      verdict.changed_outputs = std::move(changed);
      return;
    }
  }

  // Where no part of the machine can be reversed, or that changes nothing. Returns false if the
  // budget is spent.
  bool judge_host_copies(const Hazard& hazard, ObservabilityVerdict& verdict) {
    if (!host_copies_) host_copies_.emplace(program_);
    uint64_t steps = 0;
    const uint64_t step_limit = std::min(work_left(), UINT64_MAX / kStepsPerDispatch - 1);
    const uint64_t steps_max = step_limit * kStepsPerDispatch;
    const auto fetches = host_copies_->fetches_of(hazard, steps_max, steps);
    executed_ += steps / kStepsPerDispatch;
    if (steps > steps_max || is_stopped()) return false;
    for (const StaleHostCopies::Fetch& fetch : fetches) {
      if (!has_budget(1)) return false;
      verdict.changed_outputs =
          changed_outputs(host_copies_->with_fetch(hazard.first.dispatch, fetch));
      if (verdict.changed_outputs.empty()) continue;
      verdict.proof = ObservabilityProof::kOwnExecution;
      verdict.schedule.clear();
      break;
    }
    return true;
  }

  // Displacements cannot choose among bytes of which not all can be fetched early.
  bool is_said_by(const std::vector<Displacement>& displacements, const Schedule& schedule) {
    if (schedule.bytes.empty()) return true;
    const Result<Schedule> said = schedule_of(program_, order_, displacements);
    if (!said && is_stopped()) return false;
    INTERLOCK_CHECK(said.has_value());
    return *said == schedule || changes_an_output(*said);
  }

  // No sink changes an output, but `run` does: several hazards act together. Shrinks `run`.
  ObservabilityVerdict judge_together(const Schedule& run) {
    const uint64_t attempt_limit = work_left() / std::max<uint64_t>(run_work_, 1);
    std::vector<Displacement> witness = shrink_witness(
        program_, order_, displacements_of(program_, run),
        [this](const Schedule& schedule) { return changes_an_output(schedule); },
        std::min<uint64_t>(attempt_limit, 1000));
    const Result<Schedule> schedule = schedule_of(program_, order_, witness);
    if (!schedule && is_stopped()) return {};
    INTERLOCK_CHECK(schedule.has_value());
    return {.proof = ObservabilityProof::kCommonWitness,
            .schedule = std::move(witness),
            .changed_outputs = changed_outputs(*schedule)};
  }

 private:
  const Program& program_;
  const HappensBefore& order_;
  uint64_t budget_;
  uint64_t run_work_ = 0;  // Of one run of the program, in dispatches.
  uint64_t executed_ = 0;  // In all runs, likewise.
  ShadowMachine machine_;
  ShadowResult reference_;
  struct JudgedPair {
    DispatchId first;
    DispatchId second;
    FindingKind kind;
    ObservabilityVerdict verdict;
  };
  std::optional<JudgedPair> last_;
  std::optional<StaleHostCopies> host_copies_;
};

// Judges what the listed hazards hide, one second dispatch after the other.
class HiddenHazards {
 public:
  HiddenHazards(const Program& program, const HappensBefore& order, const ByteSegments& segments,
                ObservabilityJudge& judge)
      : judge_(judge), pairs_(program, order, segments), between_(program, order, segments) {}

  // `listed` are the hazards of one second dispatch. Overwrites those of `verdicts` that say that
  // the listed pair alone changes nothing, if a hidden one does or if the work limit is reached.
  void judge(std::span<const Hazard> listed, std::span<ObservabilityVerdict> verdicts) {
    const DispatchId second = listed.front().second.dispatch;
    uint64_t examination_limit = judge_.work_left();
    const bool is_complete = pairs_.find_firsts(second, examination_limit, firsts_);
    judge_.spend(judge_.work_left() - examination_limit);
    between_.set_second(second);
    // The nearest first: its sink is the shortest.
    for (size_t i = firsts_.size(); i-- > 0;) {
      if (is_stopped()) return;
      const bool is_listed = std::ranges::any_of(
          listed, [&](const Hazard& hazard) { return hazard.first.dispatch == firsts_[i]; });
      if (!is_listed) judge_hidden(firsts_[i], listed, verdicts);
    }
    for (ObservabilityVerdict& verdict : verdicts) {
      if (!is_complete && verdict.proof == ObservabilityProof::kOwnSchedule) verdict = {};
    }
  }

 private:
  void judge_hidden(DispatchId first, std::span<const Hazard> listed,
                    std::span<ObservabilityVerdict> verdicts) {
    for (const FindingKind kind : kHazardKinds) {
      std::optional<Hazard> hidden;
      for (size_t i = 0; i < listed.size(); ++i) {
        const bool may_hide = verdicts[i].proof == ObservabilityProof::kOwnSchedule &&
                              listed[i].kind == kind && first < listed[i].first.dispatch;
        if (!may_hide) continue;
        if (!hidden.has_value()) hidden = between_.find(first, kind);
        if (!hidden.has_value()) break;
        judge_.spend(1);
        if (!share_bytes(first, listed[i].first.dispatch, kind)) continue;
        ObservabilityVerdict verdict = judge_.judge_by_sinks(*hidden);
        if (verdict.proof == ObservabilityProof::kOwnSchedule) continue;
        const bool is_observable = verdict.proof == ObservabilityProof::kOwnWitness ||
                                   verdict.proof == ObservabilityProof::kOwnExecution;
        if (is_observable) verdict.through = hidden;
        verdicts[i] = std::move(verdict);
      }
    }
  }

  bool share_bytes(DispatchId a, DispatchId b, FindingKind kind) const {
    std::vector<SegmentSpan> common;
    append_common(between_.shared_segments(a, kind), between_.shared_segments(b, kind), common);
    return !common.empty();
  }

  ObservabilityJudge& judge_;
  HazardPairs pairs_;
  HazardBetween between_;
  std::vector<DispatchId> firsts_;
};

void judge_hidden_hazards(HiddenHazards& hidden, std::span<const Hazard> hazards,
                          std::span<ObservabilityVerdict> verdicts) {
  for (size_t begin = 0; begin < hazards.size() && !is_stopped();) {
    size_t end = begin;
    bool has_masked = false;
    for (; end < hazards.size() && hazards[end].second.dispatch == hazards[begin].second.dispatch;
         ++end) {
      has_masked = has_masked || verdicts[end].proof == ObservabilityProof::kOwnSchedule;
    }
    if (has_masked) {
      hidden.judge(hazards.subspan(begin, end - begin), verdicts.subspan(begin, end - begin));
    }
    begin = end;
  }
}

// Two dispatches, in either order.
uint64_t pair_number(DispatchId a, DispatchId b) {
  return uint64_t{std::min(a.index, b.index)} << 32 | std::max(a.index, b.index);
}

// The first hazard that the schedule turns round; if there is none, the first.
size_t first_moved(const std::vector<Displacement>& schedule, std::span<const Hazard> hazards) {
  std::vector<uint64_t> moved;
  for (const Displacement& line : schedule) moved.push_back(pair_number(line.moved, line.anchor));
  std::ranges::sort(moved);
  for (size_t i = 0; i < hazards.size(); ++i) {
    const uint64_t pair = pair_number(hazards[i].first.dispatch, hazards[i].second.dispatch);
    if (std::ranges::binary_search(moved, pair)) return i;
  }
  return 0;
}

bool has_proof(std::span<const ObservabilityVerdict> verdicts, ObservabilityProof proof) {
  return std::ranges::count(verdicts, proof, &ObservabilityVerdict::proof) > 0;
}

// Every hazard by its sink, and if it changes nothing, those that it hides by theirs.
std::vector<ObservabilityVerdict> judge_by_sinks(const Program& program, const HappensBefore& order,
                                                 const ByteSegments& segments,
                                                 std::span<const Hazard> hazards,
                                                 const ObservabilityOptions& options,
                                                 ObservabilityJudge& judge) {
  std::vector<ObservabilityVerdict> verdicts;
  verdicts.reserve(hazards.size());
  for (const Hazard& hazard : hazards) {
    if (is_stopped()) return std::vector<ObservabilityVerdict>(hazards.size());
    verdicts.push_back(judge.judge_by_sinks(hazard));
  }
  if (options.lists_all_pairs) return verdicts;
  if (has_host_atoms(program)) {
    const Program atoms = with_whole_atoms(program);
    const HappensBefore order_of_atoms(atoms, &program);
    const ByteSegments segments_of_atoms(atoms);
    HiddenHazards hidden(atoms, order_of_atoms, segments_of_atoms, judge);
    judge_hidden_hazards(hidden, hazards, verdicts);
    return verdicts;
  }
  HiddenHazards hidden(program, order, segments, judge);
  judge_hidden_hazards(hidden, hazards, verdicts);
  return verdicts;
}

// What the sinks say where there are no deciding runs.
void conclude_by_sinks(const ObservabilityOptions& options,
                       std::span<ObservabilityVerdict> verdicts) {
  if (has_proof(verdicts, ObservabilityProof::kOwnWitness) ||
      has_proof(verdicts, ObservabilityProof::kOwnExecution)) {
    return;
  }
  // T6 asks for the sinks of all hazards.
  const bool is_decided = !has_proof(verdicts, ObservabilityProof::kOverBudget);
  for (ObservabilityVerdict& verdict : verdicts) {
    if (verdict.proof != ObservabilityProof::kOwnSchedule) continue;
    verdict.proof = is_decided ? ObservabilityProof::kSinks : ObservabilityProof::kUndecided;
    if (!is_decided) continue;
    verdict.schedule.clear();
    if (!options.conflicting_in.is_some()) continue;
    verdict.proof = ObservabilityProof::kSlices;
    verdict.conflicting_in = options.conflicting_in;
  }
}

}  // namespace

std::vector<ObservabilityVerdict> judge_observability(const Program& program,
                                                      const HappensBefore& order,
                                                      const ByteSegments& segments,
                                                      std::span<const Hazard> hazards,
                                                      const ObservabilityOptions& options) {
  std::vector<ObservabilityVerdict> verdicts(hazards.size());
  const bool is_too_wide = order.has_queues() && order.queues().is_too_wide();
  if (is_too_wide) verdicts.assign(hazards.size(), {.proof = ObservabilityProof::kTooWide});
  if (hazards.empty() || is_too_wide || 3 * program.dispatches.size() > options.work_limit) {
    return verdicts;
  }
  ObservabilityJudge judge(program, order, options.work_limit);
  // The reference and the two deciding runs.
  if (!judge.has_budget(3)) return verdicts;
  judge.run_reference();
  if (order.has_scopes() || order.has_queues()) {
    verdicts = judge_by_sinks(program, order, segments, hazards, options, judge);
    conclude_by_sinks(options, verdicts);
    return verdicts;
  }
  const std::optional<Schedule> deciding_run = judge.find_deciding_run();
  if (is_stopped()) return verdicts;
  if (!deciding_run.has_value()) {
    const DispatchId conflicting = options.conflicting_in;
    const auto proof =
        conflicting.is_some() ? ObservabilityProof::kSlices : ObservabilityProof::kDecidingRuns;
    verdicts.assign(hazards.size(), {.proof = proof, .conflicting_in = conflicting});
    return verdicts;
  }
  verdicts = judge_by_sinks(program, order, segments, hazards, options, judge);
  if (!has_proof(verdicts, ObservabilityProof::kOwnWitness) && !is_stopped()) {
    ObservabilityVerdict together = judge.judge_together(*deciding_run);
    const size_t at = first_moved(together.schedule, hazards);
    verdicts[at] = std::move(together);
  }
  return verdicts;
}

}  // namespace interlock
