// The basic idea: the machine carries the steps out one after another, and says why it cannot.
#include "simulator/schedules/queue_legality.h"

#include <algorithm>
#include <set>
#include <span>

#include "encoder/program/error_of.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {
namespace {

// What steps may look ahead at, while a schedule is checked.
class QueueLegality {
 public:
  explicit QueueLegality(const Program& program)
      : program_(program), machine_(program, {.splits_memory = true}) {}

  Result<Success> take(const Schedule& schedule, const Step& step) {
    const auto bytes = schedule.bytes_of(step);
    switch (step.kind) {
      case StepKind::kRun:
      case StepKind::kRunLate: {
        if (step.slice_count != whole_step(program_, step.dispatch, step.kind).slice_count) {
          return error_of("The schedule runs slices of {}; with several queues it runs as a whole.",
                          program_.description_of(step.dispatch));
        }
        const bool commits = step.kind == StepKind::kRun;
        return take_parts(step.dispatch, [&](const OperationPart& part) {
          return part.role != PartRole::kDrop && (commits || part.role != PartRole::kCommit);
        });
      }
      case StepKind::kDrop:
        return take_drop(step.dispatch, bytes);
      case StepKind::kCommit:
      case StepKind::kFetch: {
        const PartRole role = step.kind == StepKind::kCommit ? PartRole::kCommit : PartRole::kFetch;
        for (const OperationPart& part : machine_.parts_of(step.dispatch)) {
          const bool is_lost = part.role == PartRole::kDrop && role == PartRole::kCommit &&
                               done_.contains(part) && !done_.contains(commit_of(part)) &&
                               (bytes.empty() || is_in(part, bytes));
          if (!is_lost) continue;
          return error_of("The schedule commits what the host has invalidated of {}.",
                          program_.description_of(step.dispatch));
        }
        return take_parts(step.dispatch, [&](const OperationPart& part) {
          return part.role == role && (bytes.empty() || is_in(part, bytes));
        });
      }
    }
    return Success{};
  }

  Result<Success> finish() {
    take_what_no_step_says(nullptr);
    if (machine_.is_done()) return Success{};
    return Error{"The schedule does not carry out all that the program has."};
  }

 private:
  template <typename Predicate>
  Result<Success> take_parts(DispatchId dispatch, const Predicate& is_meant) {
    for (const OperationPart& part : machine_.parts_of(dispatch)) {
      if (!is_meant(part) || done_.contains(part)) continue;
      if (!machine_.may_run(part)) take_what_no_step_says(&part);
      if (!done_.insert(part).second) continue;
      if (!machine_.may_run(part)) {
        const auto next = machine_.next_part(dispatch);
        if (!next || machine_.may_run(*next)) {
          return error_of("The schedule has a part of {} that may not run yet.",
                          program_.description_of(dispatch));
        }
        return Error{machine_.why_held(dispatch)};
      }
      machine_.run(part);
    }
    return Success{};
  }

  static OperationPart commit_of(const OperationPart& drop) {
    return {drop.dispatch, drop.stage, PartRole::kCommit, drop.piece};
  }

  // What the host wrote is dropped, and what it committed so far stays.
  Result<Success> take_drop(DispatchId dispatch, std::span<const StepBytes> bytes) {
    for (const OperationPart& part : machine_.parts_of(dispatch)) {
      const bool is_meant = part.role == PartRole::kCommit && !done_.contains(part) &&
                            (bytes.empty() || is_in(part, bytes));
      if (!is_meant) continue;
      const OperationPart drop = {dispatch, part.stage, PartRole::kDrop, part.piece};
      if (!done_.contains(drop)) take_what_no_step_says(&drop);
      if (machine_.may_run(drop)) {
        done_.insert(drop);
        machine_.run(drop);
      }
      if (!done_.contains(drop)) {
        return error_of("The schedule drops what the host has not invalidated of {}.",
                        program_.description_of(dispatch));
      }
      done_.insert(part);
      dropped_.insert(part);
    }
    run_dropped();
    return Success{};
  }

  // What is dropped does nothing when its commit comes, which waits for that of earlier writes.
  void run_dropped() {
    const auto may_run = [this](const OperationPart& part) { return machine_.may_run(part); };
    for (auto next = std::ranges::find_if(dropped_, may_run); next != dropped_.end();
         next = std::ranges::find_if(dropped_, may_run)) {
      machine_.run(*next);
      dropped_.erase(next);
    }
  }

  // No step says that an indirect dispatch has read its arguments, once they are fetched, or that
  // the host invalidates: that is so as soon as `wanted` waits for it, or the end.
  void take_what_no_step_says(const OperationPart* wanted) {
    run_dropped();
    take_all(
        [](const OperationPart& part) {
          return part.stage == Stage::kIndirect && part.role == PartRole::kRun;
        },
        nullptr);
    take_all([](const OperationPart& part) { return part.role == PartRole::kDrop; }, wanted);
  }

  template <typename Predicate>
  void take_all(const Predicate& is_meant, const OperationPart* wanted) {
    while (wanted == nullptr || !machine_.may_run(*wanted)) {
      const auto next = std::ranges::find_if(machine_.enabled(), is_meant);
      if (next == machine_.enabled().end()) return;
      done_.insert(*next);
      machine_.run(OperationPart(*next));
    }
  }

  bool is_in(const OperationPart& part, std::span<const StepBytes> places) const {
    const AccessPiece& piece = machine_.pieces()[part.piece];
    const MemoryId memory = program_.accesses_of(piece.dispatch)[piece.access].memory;
    return std::ranges::any_of(places, [&](const StepBytes& place) {
      return place.memory == memory && place.range.contains(piece.bytes) &&
             (part.role != PartRole::kFetch || place.sort == piece.sort);
    });
  }

  const Program& program_;
  QueueMachine machine_;
  std::set<OperationPart> done_;
  std::set<OperationPart> dropped_;  // Commits that are to come, and do nothing.
};

}  // namespace

Result<Success> check_legal_on_queues(const Program& program, const Schedule& schedule) {
  QueueLegality legality(program);
  for (const Step& step : schedule.steps) {
    if (Result<Success> taken = legality.take(schedule, step); !taken) return taken;
  }
  return legality.finish();
}

}  // namespace interlock
