// The basic idea: the machine takes the first part in reference order that may run, but for those
// that are deferred. What it says of a part that never may is why a schedule is not legal.
#include "simulator/schedules/queue_schedule.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/queue_steps.h"

namespace interlock {
namespace {

QueueMachine split_machine(const Program& program, uint64_t step_limit = UINT64_MAX) {
  return QueueMachine(program, {.splits_memory = true, .step_limit = step_limit});
}

// What a run takes apart from what the machine looks at.
uint64_t steps_of_a_run(const Program& program) {
  return kStepsOfARun * std::max<uint64_t>(program.dispatches.size(), 1);
}

Error too_many_steps() { return Error{"Making the schedule takes more steps than it may."}; }

bool is_deferred(const std::vector<Deferral>& deferrals, const OperationPart& part) {
  return std::ranges::any_of(deferrals, [&](const Deferral& deferral) {
    return !deferral.until.empty() && deferral.deferred.contains(part);
  });
}

// The first part that is not deferred, of those that may run.
std::optional<OperationPart> next_part(const QueueMachine& machine,
                                       const std::vector<Deferral>& deferrals) {
  for (const OperationPart& part : machine.enabled()) {
    if (!is_deferred(deferrals, part)) return part;
  }
  return std::nullopt;
}

// Where all that may run is deferred, or nothing may.
Error why_stuck(const Program& program, const QueueMachine& machine,
                const std::vector<Deferral>& deferrals) {
  for (const Deferral& deferral : deferrals) {
    if (deferral.until.empty()) continue;
    const DispatchId awaited = deferral.until.begin()->dispatch;
    const std::optional<OperationPart> part = machine.next_part(awaited);
    INTERLOCK_CHECK(part.has_value());
    if (!machine.enabled().contains(*part)) return Error{machine.why_held(awaited)};
    return error_of("The schedule defers {} until it has run itself.",
                    program.description_of(awaited));
  }
  return Error{"The schedule cannot be carried out to its end."};
}

std::set<OperationPart> all_parts(const QueueMachine& machine, DispatchId dispatch) {
  const std::vector<OperationPart> parts = machine.parts_of(dispatch);
  return {parts.begin(), parts.end()};
}

std::set<OperationPart> parts_in_role(const QueueMachine& machine, DispatchId dispatch,
                                      PartRole role) {
  std::set<OperationPart> parts;
  for (const OperationPart& part : machine.parts_of(dispatch)) {
    if (part.role == role) parts.insert(part);
  }
  return parts;
}

// Adds the deferral that one line says; of its deferred parts those that can wait.
class WitnessReader {
 public:
  WitnessReader(const Program& program, uint64_t* steps_left)
      : program_(program),
        steps_left_(steps_left),
        machine_(split_machine(program, steps_left == nullptr ? UINT64_MAX : *steps_left)) {}

  Result<Success> read(const Displacement& line) {
    if (line.has_slices) {
      return error_of(
          "A witness moves slices of {}; in a program with several queues only whole operations move.",
          program_.description_of(line.moved));
    }
    switch (line.kind) {
      case DisplacementKind::kBefore:
        return add(Deferral{all_parts(machine_, line.anchor), all_parts(machine_, line.moved)});
      case DisplacementKind::kAfter:
        return add(Deferral{all_parts(machine_, line.moved), all_parts(machine_, line.anchor)});
      case DisplacementKind::kCommitsAfter:
        return add_late_commits(line);
      case DisplacementKind::kFetchesBefore:
        return add_early_fetches(line);
    }
    return Success{};
  }

  const std::vector<Deferral>& deferrals() const { return deferrals_; }
  const QueueMachine& machine() const { return machine_; }

 private:
  // Whether it is legal beside the others shows when all are there.
  Result<Success> add(Deferral deferral) {
    deferrals_.push_back(std::move(deferral));
    return Success{};
  }

  bool can_add(const Deferral& deferral) const {
    std::vector<Deferral> with = deferrals_;
    with.push_back(deferral);
    return run_deferring(program_, std::move(with), steps_left_).has_value();
  }

  Result<Success> add_late_commits(const Displacement& line) {
    const Deferral all = {parts_in_role(machine_, line.moved, PartRole::kCommit),
                          all_parts(machine_, line.anchor)};
    if (!all.deferred.empty() && can_add(all)) return add(all);
    Deferral some = {{}, all.until};
    for (const OperationPart& commit : all.deferred) {
      if (can_add(Deferral{{commit}, all.until})) some.deferred.insert(commit);
    }
    if (!some.deferred.empty()) return add(std::move(some));
    return error_of("No write of {} can commit after {}.", program_.description_of(line.moved),
                    program_.description_of(line.anchor));
  }

  Result<Success> add_early_fetches(const Displacement& line) {
    const size_t count = deferrals_.size();
    for (const OperationPart& commit : parts_in_role(machine_, line.anchor, PartRole::kCommit)) {
      for (const OperationPart& fetch : parts_in_role(machine_, line.moved, PartRole::kFetch)) {
        if (!share_bytes(commit, fetch)) continue;
        const Deferral deferral = {{commit}, {fetch}};
        if (can_add(deferral)) deferrals_.push_back(deferral);
      }
    }
    if (deferrals_.size() > count) return Success{};
    return error_of("{} can fetch nothing before {} commits.", program_.description_of(line.moved),
                    program_.description_of(line.anchor));
  }

  bool share_bytes(const OperationPart& a, const OperationPart& b) const {
    const AccessPiece& one = machine_.pieces()[a.piece];
    const AccessPiece& other = machine_.pieces()[b.piece];
    return program_.accesses_of(one.dispatch)[one.access].memory ==
               program_.accesses_of(other.dispatch)[other.access].memory &&
           share_a_byte(one.bytes, other.bytes);
  }

  const Program& program_;
  uint64_t* const steps_left_;
  const QueueMachine machine_;
  std::vector<Deferral> deferrals_;
};

// The ways in which two dispatches meet on their bytes as one kind of hazard has it.
class HazardParts {
 public:
  struct Pair {
    OperationPart first;
    OperationPart second;
  };

  HazardParts(const Program& program, const QueueMachine& machine, const Hazard& hazard)
      : program_(program), machine_(machine), kind_(hazard.kind) {
    const AtomicOp op = program.dispatch(hazard.first.dispatch).atomic_op;
    is_same_atomic_ =
        op != AtomicOp::kNone && op == program.dispatch(hazard.second.dispatch).atomic_op;
    const bool reads_first = kind_ == FindingKind::kWriteAfterRead;
    const bool reads_second = kind_ == FindingKind::kReadAfterWrite;
    add(hazard, reads_first ? PartRole::kFetch : PartRole::kCommit,
        reads_second ? PartRole::kFetch : PartRole::kCommit);
    // A partial write finds what it leaves as it was.
    const bool leaves_bytes = program.dispatch(hazard.second.dispatch).is_partial;
    if (kind_ == FindingKind::kWriteAfterWrite && leaves_bytes) {
      add(hazard, PartRole::kCommit, PartRole::kFetch);
    }
  }

  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  // Some bytes through which a part takes part.
  struct Use {
    OperationPart part;
    const Access* access;
    ByteRange bytes;
  };

  // Of the host all happens at once, in its run.
  std::vector<Use> uses_of(DispatchId dispatch, PartRole role) const {
    std::vector<Use> uses;
    const auto accesses = program_.accesses_of(dispatch);
    for (const OperationPart& part : machine_.parts_of(dispatch)) {
      if (part.stage == Stage::kHost) {
        for (const Access& access : accesses) {
          const bool is_meant = role == PartRole::kCommit ? access.writes() : access.reads();
          if (is_meant) uses.push_back({part, &access, access.range});
        }
      } else if (part.role == role) {
        const AccessPiece& piece = machine_.pieces()[part.piece];
        uses.push_back({part, &accesses[piece.access], piece.bytes});
      }
    }
    return uses;
  }

  void add(const Hazard& hazard, PartRole first_role, PartRole second_role) {
    const std::vector<Use> seconds = uses_of(hazard.second.dispatch, second_role);
    for (const Use& first : uses_of(hazard.first.dispatch, first_role)) {
      for (const Use& second : seconds) {
        const bool shares = first.access->memory == second.access->memory &&
                            share_a_byte(first.bytes, second.bytes);
        if (shares && conflict(*first.access, *second.access)) {
          pairs_.push_back({first.part, second.part});
        }
      }
    }
  }

  bool conflict(const Access& first, const Access& second) const {
    return !(is_same_atomic_ && first.is_atomic() && second.is_atomic());
  }

  const Program& program_;
  const QueueMachine& machine_;
  FindingKind kind_;
  bool is_same_atomic_ = false;
  std::vector<Pair> pairs_;
};

// What steps may look ahead at, while a schedule is checked.
class QueueLegality {
 public:
  explicit QueueLegality(const Program& program)
      : program_(program), machine_(split_machine(program)) {}

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
          return commits || part.role != PartRole::kCommit;
        });
      }
      case StepKind::kCommit:
      case StepKind::kFetch: {
        const PartRole role = step.kind == StepKind::kCommit ? PartRole::kCommit : PartRole::kFetch;
        return take_parts(step.dispatch, [&](const OperationPart& part) {
          return part.role == role && (bytes.empty() || is_in(part, bytes));
        });
      }
    }
    return Success{};
  }

  Result<Success> finish() const {
    if (machine_.is_done()) return Success{};
    return Error{"The schedule does not carry out all that the program has."};
  }

 private:
  template <typename Predicate>
  Result<Success> take_parts(DispatchId dispatch, const Predicate& is_meant) {
    for (const OperationPart& part : machine_.parts_of(dispatch)) {
      if (!is_meant(part) || done_.contains(part)) continue;
      if (!machine_.enabled().contains(part)) read_arguments();
      if (!done_.insert(part).second) continue;
      if (!machine_.enabled().contains(part)) {
        const auto next = machine_.next_part(dispatch);
        if (!next || machine_.enabled().contains(*next)) {
          return error_of("The schedule has a part of {} that may not run yet.",
                          program_.description_of(dispatch));
        }
        return Error{machine_.why_held(dispatch)};
      }
      machine_.run(part);
    }
    return Success{};
  }

  // No step says that an indirect dispatch has read its arguments, once they are fetched: that is
  // so as soon as something waits for it.
  void read_arguments() {
    const auto is_meant = [](const OperationPart& part) {
      return part.stage == Stage::kIndirect && part.role == PartRole::kRun;
    };
    for (;;) {
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
      return place.memory == memory && place.range.begin <= piece.bytes.begin &&
             piece.bytes.end <= place.range.end &&
             (part.role == PartRole::kCommit || place.sort == piece.sort);
    });
  }

  const Program& program_;
  QueueMachine machine_;
  std::set<OperationPart> done_;
};

}  // namespace

Result<std::vector<OperationPart>> run_deferring(const Program& program,
                                                 std::vector<Deferral> deferrals,
                                                 uint64_t* steps_left) {
  uint64_t unlimited = UINT64_MAX;
  uint64_t& left = steps_left == nullptr ? unlimited : *steps_left;
  if (left < steps_of_a_run(program)) {
    left = 0;
    return too_many_steps();
  }
  left -= steps_of_a_run(program);
  QueueMachine machine = split_machine(program, left);
  std::vector<OperationPart> order;
  while (const std::optional<OperationPart> next = next_part(machine, deferrals)) {
    if (is_stopped()) return Error{"Making the schedule was stopped."};
    if (machine.is_halted()) break;
    machine.run(*next);
    for (Deferral& deferral : deferrals) deferral.until.erase(*next);
    order.push_back(*next);
  }
  const bool has_steps = machine.step_count() <= left;
  left -= std::min(left, machine.step_count());
  if (!has_steps) return too_many_steps();
  if (is_stopped()) return Error{"Making the schedule was stopped."};
  if (!machine.is_done()) return why_stuck(program, machine, deferrals);
  return order;
}

Result<Schedule> queue_schedule_of(const Program& program,
                                   const std::vector<Displacement>& displacements,
                                   uint64_t* steps_left) {
  WitnessReader reader(program, steps_left);
  for (const Displacement& line : displacements) {
    if (is_stopped()) return Error{"Making the schedule was stopped."};
    if (Result<Success> read = reader.read(line); !read) return read.error();
  }
  Result<std::vector<OperationPart>> order = run_deferring(program, reader.deferrals(), steps_left);
  if (!order) return order.error();
  return steps_of(program, reader.machine(), *order);
}

std::vector<Schedule> queue_sinks_of(const Program& program, const Hazard& hazard,
                                     uint64_t& steps_left) {
  std::vector<Schedule> sinks;
  if (steps_left < steps_of_a_run(program)) {
    steps_left = 0;
    return sinks;
  }
  steps_left -= steps_of_a_run(program);
  const QueueMachine machine = split_machine(program, steps_left);
  steps_left -= std::min(steps_left, machine.step_count());
  const HazardParts parts(program, machine, hazard);
  for (const HazardParts::Pair& pair : parts.pairs()) {
    if (is_stopped() || steps_left == 0) return sinks;
    const Deferral deferral = {{pair.first}, {pair.second}};
    const auto order = run_deferring(program, {deferral}, &steps_left);
    if (!order) continue;
    Schedule sink = steps_of(program, machine, *order);
    if (std::ranges::find(sinks, sink) == sinks.end()) sinks.push_back(std::move(sink));
  }
  return sinks;
}

std::vector<std::vector<Displacement>> queue_witnesses_of(const Hazard& hazard) {
  const DispatchId first = hazard.first.dispatch;
  const DispatchId second = hazard.second.dispatch;
  std::vector<std::vector<Displacement>> witnesses = {{{second, first, DisplacementKind::kBefore}}};
  if (hazard.kind == FindingKind::kWriteAfterRead) return witnesses;
  witnesses.push_back({{first, second, DisplacementKind::kCommitsAfter}});
  witnesses.push_back({{second, first, DisplacementKind::kFetchesBefore}});
  return witnesses;
}

Result<Success> check_legal_on_queues(const Program& program, const Schedule& schedule) {
  QueueLegality legality(program);
  for (const Step& step : schedule.steps) {
    if (Result<Success> taken = legality.take(schedule, step); !taken) return taken;
  }
  return legality.finish();
}

}  // namespace interlock
