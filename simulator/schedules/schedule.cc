// Schedules in issue order, and what makes any other one legal. The idea of the check: with `done`
// the length of the longest prefix of dispatches in issue order that have all run (committed), a
// dispatch may run iff its execution (memory) epoch begins no later than that prefix ends. One pass
// decides, because epochs begin in issue order. With scoped barriers there is a prefix per stage,
// and each late write is asked who must see it.
#include "simulator/schedules/schedule.h"

#include <algorithm>
#include <array>
#include <utility>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/error_of.h"
#include "simulator/order/split_order.h"
#include "simulator/schedules/late_writes.h"
#include "simulator/schedules/queue_legality.h"

namespace interlock {
namespace {

class LegalityCheck {
 public:
  LegalityCheck(const Program& program, const HappensBefore& order, const Schedule& schedule)
      : program_(program),
        order_(order),
        schedule_(schedule),
        states_(program.dispatches.size()),
        late_writes_(program, order) {
    advance_prefixes();
  }

  Result<Success> add(const Step& step);
  Result<Success> finish();

 private:
  struct State {
    uint64_t slices_run = 0;
    bool is_waiting = false;    // Some piece ran late, and its commit has not come.
    bool is_committed = false;  // By a kCommit.
  };

  Result<Success> add_run(const Step& step, State& state);
  Result<Success> add_commit(const Step& step, State& state);
  Result<Success> add_commit_of_some(const Step& step, const State& state);
  Result<Success> add_fetch(const Step& step, const State& state);
  Result<Success> check_order(DispatchId dispatch);
  Result<Success> check_scoped_order(DispatchId dispatch);
  bool has_run(size_t index) const {
    return states_[index].slices_run == slice_count_of(program_, program_.dispatches[index]);
  }
  void advance_prefixes();
  void advance_stage_prefixes();

  const Program& program_;
  const HappensBefore& order_;
  const Schedule& schedule_;
  std::vector<State> states_;
  std::vector<Step> pieces_;     // Steps that run less than their dispatch.
  size_t run_prefix_ = 0;        // Dispatches [0, run_prefix_) have run.
  size_t committed_prefix_ = 0;  // Dispatches [0, committed_prefix_) have run and committed.
  // With scopes. Of each stage, the dispatches before this one have run.
  std::array<size_t, kDispatchStageCount> stage_prefix_{};
  LateWrites late_writes_;
};

Result<Success> LegalityCheck::add(const Step& step) {
  if (step.dispatch.index >= states_.size()) {
    return error_of("The schedule names dispatch {}, but the program has {} dispatches.",
                    step.dispatch.index, states_.size());
  }
  State& state = states_[step.dispatch.index];
  const bool has_bytes =
      step.kind == StepKind::kFetch || (step.kind == StepKind::kCommit && step.slice_count > 0);
  if (has_bytes) {
    if (!order_.has_scopes()) {
      return error_of(
          "The schedule fetches or commits some bytes of {} by themselves, which has a meaning beside scoped barriers only.",
          program_.description_of(step.dispatch));
    }
    return step.kind == StepKind::kFetch ? add_fetch(step, state) : add_commit_of_some(step, state);
  }
  Result<Success> result =
      step.kind == StepKind::kCommit ? add_commit(step, state) : add_run(step, state);
  if (result) advance_prefixes();
  return result;
}

Result<Success> LegalityCheck::add_run(const Step& step, State& state) {
  const auto name = [&] { return program_.description_of(step.dispatch); };
  const uint64_t slice_count = slice_count_of(program_, program_.dispatch(step.dispatch));
  const uint64_t end = uint64_t{step.first_slice} + step.slice_count;
  if (step.slice_count == 0 || end > slice_count) {
    return error_of("The schedule runs slices [{}:{}] of {}, which has {} slices.",
                    step.first_slice, end, name(), slice_count);
  }
  if (state.is_committed) {
    return error_of("The schedule runs slices of {} after its commit.", name());
  }
  if (state.slices_run + step.slice_count > slice_count) {
    return error_of("The schedule runs a slice of {} twice.", name());
  }
  if (Result<Success> ordered = check_order(step.dispatch); !ordered) return ordered;
  if (step.slice_count < slice_count) pieces_.push_back(step);
  state.slices_run += step.slice_count;
  if (step.kind == StepKind::kRunLate && order_.has_scopes() && !state.is_waiting) {
    if (late_writes_.is_full()) {
      return error_of(
          "More than {} dispatches wait for their commit when {} runs, the limit in a program with scoped barriers.",
          LateWrites::kCountMax, name());
    }
    late_writes_.add(step.dispatch);
  }
  state.is_waiting |= step.kind == StepKind::kRunLate;
  return Success{};
}

Result<Success> LegalityCheck::add_commit(const Step& step, State& state) {
  const auto name = [&] { return program_.description_of(step.dispatch); };
  if (state.is_committed) {
    return error_of("The schedule commits {} twice.", name());
  }
  if (!has_run(step.dispatch.index)) {
    return error_of("The schedule commits {} before all its slices have run.", name());
  }
  if (!state.is_waiting) {
    return error_of("The schedule commits {}, which did not run late.", name());
  }
  state.is_waiting = false;
  state.is_committed = true;
  late_writes_.remove(step.dispatch);
  return Success{};
}

Result<Success> LegalityCheck::add_commit_of_some(const Step& step, const State& state) {
  if (!state.is_waiting || !has_run(step.dispatch.index)) {
    return error_of("The schedule commits some bytes of {}, which do not wait.",
                    program_.description_of(step.dispatch));
  }
  for (const StepBytes& bytes : schedule_.bytes_of(step)) {
    if (late_writes_.commit(step.dispatch, {bytes.memory, bytes.range})) continue;
    return error_of("The schedule commits bytes [{}:{}] of {} for {}, which do not wait.",
                    bytes.range.begin, bytes.range.end,
                    program_.name(program_.memory(bytes.memory).name),
                    program_.description_of(step.dispatch));
  }
  return Success{};
}

// A cache can hold what memory held at any time since all that leads to the fetch.
Result<Success> LegalityCheck::add_fetch(const Step& step, const State& state) {
  const DispatchId reader = step.dispatch;
  if (state.slices_run > 0) {
    return error_of("The schedule fetches for {} after it has run.",
                    program_.description_of(reader));
  }
  const DispatchId begin(std::min<size_t>(committed_prefix_, reader.index));
  for (const StepBytes& bytes : schedule_.bytes_of(step)) {
    const MemoryRange place{bytes.memory, bytes.range};
    const FetchNeeds needs(order_.scopes(), begin, reader, place, bytes.sort);
    for (DispatchId earlier = begin; earlier < reader; ++earlier.index) {
      const LateWrites::Waiting* const waiting = late_writes_.find(earlier);
      bool is_needed = !has_run(earlier.index) && needs.needs_run(earlier);
      for (size_t i = 0; waiting != nullptr && i < waiting->bytes.size(); ++i) {
        is_needed = is_needed || needs.needs_commit(earlier, waiting->bytes[i]);
      }
      if (!is_needed) continue;
      return error_of(
          "The schedule fetches for {} before {} {}, but a barrier holds the fetch back.",
          program_.description_of(reader), program_.description_of(earlier),
          has_run(earlier.index) ? "commits" : "runs");
    }
  }
  return Success{};
}

Result<Success> LegalityCheck::check_order(DispatchId dispatch) {
  if (order_.has_scopes()) return check_scoped_order(dispatch);
  if (run_prefix_ < order_.execution_epoch_begin(dispatch).index) {
    return error_of("The schedule runs {} before {}, but a barrier orders them.",
                    program_.description_of(dispatch),
                    program_.description_of(DispatchId(run_prefix_)));
  }
  if (committed_prefix_ < order_.memory_epoch_begin(dispatch).index) {
    return error_of(
        "The schedule runs {} before {} commits, but a barrier makes its writes visible.",
        program_.description_of(dispatch), program_.description_of(DispatchId(committed_prefix_)));
  }
  return Success{};
}

Result<Success> LegalityCheck::check_scoped_order(DispatchId dispatch) {
  for (size_t s = 0; s < kDispatchStageCount; ++s) {
    if (stage_prefix_[s] >= order_.scopes().unfinished_begin(static_cast<Stage>(s), dispatch)) {
      continue;
    }
    return error_of("The schedule runs {} before {}, but a barrier orders them.",
                    program_.description_of(dispatch),
                    program_.description_of(DispatchId(stage_prefix_[s])));
  }
  if (const std::optional<DispatchId> forced = late_writes_.find_forced(dispatch)) {
    return error_of(
        "The schedule runs {} before {} commits, but a barrier makes its writes available.",
        program_.description_of(dispatch), program_.description_of(*forced));
  }
  return Success{};
}

void LegalityCheck::advance_stage_prefixes() {
  for (size_t s = 0; s < kDispatchStageCount; ++s) {
    size_t& prefix = stage_prefix_[s];
    while (prefix < states_.size() &&
           (order_.scopes().stage_of(DispatchId(prefix)) != static_cast<Stage>(s) ||
            has_run(prefix))) {
      ++prefix;
    }
  }
}

void LegalityCheck::advance_prefixes() {
  if (order_.has_scopes()) advance_stage_prefixes();
  while (run_prefix_ < states_.size() && has_run(run_prefix_)) ++run_prefix_;
  while (committed_prefix_ < run_prefix_ && !states_[committed_prefix_].is_waiting) {
    ++committed_prefix_;
  }
}

Result<Success> LegalityCheck::finish() {
  if (run_prefix_ < states_.size()) {
    return error_of("The schedule does not run all slices of {}.",
                    program_.description_of(DispatchId(run_prefix_)));
  }
  if (committed_prefix_ < states_.size()) {
    return error_of("The schedule never commits {}, which runs late.",
                    program_.description_of(DispatchId(committed_prefix_)));
  }
  // As many slices as there are have run, so each ran once iff no two pieces overlap.
  std::ranges::sort(pieces_, {},
                    [](const Step& step) { return std::pair(step.dispatch, step.first_slice); });
  for (size_t i = 1; i < pieces_.size(); ++i) {
    const Step& left = pieces_[i - 1];
    const Step& right = pieces_[i];
    if (left.dispatch == right.dispatch &&
        uint64_t{left.first_slice} + left.slice_count > right.first_slice) {
      return error_of("The schedule runs slice {} of {} twice.", right.first_slice,
                      program_.description_of(right.dispatch));
    }
  }
  return Success{};
}

}  // namespace

Schedule reference_order_schedule(const Program& program) {
  Schedule schedule;
  schedule.steps.reserve(program.dispatches.size());
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    schedule.steps.push_back(whole_step(program, DispatchId(i), StepKind::kRun));
  }
  return schedule;
}

Step whole_step(const Program& program, DispatchId dispatch, StepKind kind) {
  if (kind == StepKind::kCommit) return {kind, dispatch, 0, 0};
  const uint64_t slice_count = slice_count_of(program, program.dispatch(dispatch));
  return {kind, dispatch, 0, static_cast<uint32_t>(slice_count)};
}

bool writes_anything(const Program& program, DispatchId dispatch) {
  return !std::ranges::all_of(program.accesses_of(dispatch), &Access::only_reads);
}

Result<Success> check_legal(const Program& program, const HappensBefore& order,
                            const Schedule& schedule) {
  if (order.has_queues()) return check_legal_on_queues(program, schedule);
  LegalityCheck check(program, order, schedule);
  for (const Step& step : schedule.steps) {
    if (Result<Success> result = check.add(step); !result) return result;
  }
  return check.finish();
}

}  // namespace interlock
