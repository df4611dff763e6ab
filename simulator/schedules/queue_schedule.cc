// The basic idea: the machine takes the first part in reference order that may run, but for those
// that are deferred. What it says of a part that never may is why a schedule is not legal.
#include "simulator/schedules/queue_schedule.h"

#include <algorithm>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/hazard_parts.h"
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

// When the host invalidates what it has written and not flushed.
enum class Invalidations : uint8_t {
  kAfterCommits,  // They wait with a commit that is deferred.
  kAtOnce,        // A commit that is deferred longer does nothing.
};

// The host would lose what it has not committed.
bool loses(const QueueMachine& machine, const OperationPart& part) {
  return part.role == PartRole::kDrop &&
         !machine.is_over({part.dispatch, part.stage, PartRole::kCommit, part.piece});
}

// The first part that is not deferred, of those that may run.
std::optional<OperationPart> next_part(const QueueMachine& machine,
                                       const std::vector<Deferral>& deferrals,
                                       Invalidations invalidations) {
  for (const OperationPart& part : machine.enabled()) {
    if (is_deferred(deferrals, part)) continue;
    if (invalidations == Invalidations::kAtOnce || !loses(machine, part)) return part;
  }
  // The host's cache fetches what something waits for.
  for (const OperationPart& part : machine.early()) {
    const bool is_awaited = std::ranges::any_of(
        deferrals, [&](const Deferral& deferral) { return deferral.until.contains(part); });
    if (is_awaited && !is_deferred(deferrals, part)) return part;
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
    if (!machine.may_run(*part)) return Error{machine.why_held(awaited)};
    return error_of("The schedule defers {} until it has run itself.",
                    program.description_of(awaited));
  }
  return Error{"The schedule cannot be carried out to its end."};
}

// But for what the host invalidates, which is a later statement.
std::set<OperationPart> all_parts(const QueueMachine& machine, DispatchId dispatch) {
  std::set<OperationPart> parts;
  for (const OperationPart& part : machine.parts_of(dispatch)) {
    if (part.role != PartRole::kDrop) parts.insert(part);
  }
  return parts;
}

std::set<OperationPart> parts_in_role(const QueueMachine& machine, DispatchId dispatch,
                                      PartRole role) {
  std::set<OperationPart> parts;
  for (const OperationPart& part : machine.parts_of(dispatch)) {
    if (part.role == role) parts.insert(part);
  }
  return parts;
}

Result<std::vector<OperationPart>> run_once(const Program& program, std::vector<Deferral> deferrals,
                                            Invalidations invalidations, uint64_t& left) {
  if (left < steps_of_a_run(program)) {
    left = 0;
    return too_many_steps();
  }
  left -= steps_of_a_run(program);
  QueueMachine machine = split_machine(program, left);
  std::vector<OperationPart> order;
  while (const std::optional<OperationPart> next = next_part(machine, deferrals, invalidations)) {
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

}  // namespace

Result<std::vector<OperationPart>> run_deferring(const Program& program,
                                                 std::vector<Deferral> deferrals,
                                                 uint64_t* steps_left) {
  uint64_t unlimited = UINT64_MAX;
  uint64_t& left = steps_left == nullptr ? unlimited : *steps_left;
  auto order = run_once(program, deferrals, Invalidations::kAfterCommits, left);
  const bool may_lose = std::ranges::any_of(
      program.syncs, [](const SyncStep& step) { return step.kind == SyncKind::kHostInvalidates; });
  if (order || !may_lose || is_stopped()) return order;
  return run_once(program, std::move(deferrals), Invalidations::kAtOnce, left);
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

}  // namespace interlock
