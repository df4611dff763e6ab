#include "encoder/queues/dispatch_conflicts.h"

#include <algorithm>

#include "encoder/plan/data_dependencies.h"
#include "encoder/program/error_of.h"

namespace interlock {

Result<Success> check_count(const Program& program) {
  if (program.dispatches.size() > OrderReduction::kCountMax) {
    return error_of(
        "the program has {} dispatches; encoders for several queues take at most {}, as they keep "
        "a bit for each pair.",
        program.dispatches.size(), OrderReduction::kCountMax);
  }
  return Success{};
}

Result<Success> check_is_dispatches(const Program& program) {
  if (auto checked = check_count(program); !checked) return checked;
  return check_is_dispatches_alone(program);
}

Result<Success> check_is_dispatches_alone(const Program& program) {
  if (!program.lifetimes.empty()) {
    return error_of(
        "the program has '{}'; encoders for several queues take dispatches alone, since the place "
        "of a statement about a value is that of one queue.",
        program.text_of(program.lifetimes[0]));
  }
  for (const SyncStep& step : program.syncs) {
    if (!is_of_host(step.kind)) continue;
    return error_of("the program has '{}'; encoders for several queues take dispatches alone.",
                    word_of(step.kind));
  }
  if (!program.host_dispatches.empty()) {
    return Error{
        "the host reads or writes in the program; encoders for several queues take dispatches "
        "alone."};
  }
  if (std::ranges::any_of(program.dispatches, &Dispatch::is_transition)) {
    return Error{
        "a barrier of the program does something to its operands; encoders for several queues take "
        "dispatches alone."};
  }
  return Success{};
}

Predecessors conflicts_of(const Program& program) {
  return DataDependencies(program, false).take_all();
}

bool are_in_conflict(const Dispatch& first, const Access& first_access, const Dispatch& second,
                     const Access& second_access) {
  if (first_access.only_reads() && second_access.only_reads()) return false;
  const bool commute =
      first_access.is_atomic() && second_access.is_atomic() && first.atomic_op == second.atomic_op;
  return !commute && first_access.memory == second_access.memory &&
         share_a_byte(first_access.range, second_access.range);
}

bool are_in_conflict(const Program& program, DispatchId first, DispatchId second) {
  for (const Access& a : program.declared_accesses_of(first)) {
    for (const Access& b : program.declared_accesses_of(second)) {
      if (are_in_conflict(program.dispatch(first), a, program.dispatch(second), b)) return true;
    }
  }
  return false;
}

}  // namespace interlock
