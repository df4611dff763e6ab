// What a redundant barrier says to a person: where it stands, and why nothing needs it.
#include <fmt/format.h>

#include "encoder/program/check.h"
#include "simulator/barriers/redundancy.h"

namespace interlock {
namespace {

// Dispatches [begin, end).
struct DispatchRun {
  uint32_t begin;
  uint32_t end;
};

// The two neighbouring epochs that a barrier separates.
struct SeparatedEpochs {
  DispatchRun before;
  DispatchRun behind;
};

// The execution epochs if `is_execution`, else the memory epochs. Requires: a dispatch stands on
// either side of the barrier.
SeparatedEpochs epochs_around(const Program& program, const RedundantBarrier& redundant,
                              bool is_execution) {
  const auto separates = [&](const Statement& statement) {
    return statement.kind == StatementKind::kBarrier &&
           (is_execution || program.barriers[statement.index].kind == BarrierKind::kFull);
  };
  const uint32_t middle = redundant.slot;
  INTERLOCK_CHECK(0 < middle && middle < program.dispatches.size());
  DispatchRun before{middle - 1, middle};
  for (uint32_t s = program.dispatches[middle - 1].statement.index;
       s-- > 0 && !separates(program.statements[s]);) {
    if (program.statements[s].kind == StatementKind::kDispatch) --before.begin;
  }
  DispatchRun behind{middle, middle + 1};
  for (uint32_t s = program.dispatches[middle].statement.index + 1;
       s < program.statements.size() && !separates(program.statements[s]); ++s) {
    if (program.statements[s].kind == StatementKind::kDispatch) ++behind.end;
  }
  return {before, behind};
}

std::string run_text(DispatchRun run) {
  return run.end - run.begin == 1 ? fmt::format("dispatch {}", run.begin)
                                  : fmt::format("dispatches {} to {}", run.begin, run.end - 1);
}

// Another barrier with no dispatch between; none if there is none.
BarrierId neighbour_of(const Program& program, BarrierId barrier) {
  const uint32_t at = program.barriers[barrier.index].statement.index;
  for (const uint32_t step : {UINT32_MAX, uint32_t{1}}) {  // Backwards, then forwards.
    uint32_t s = at + step;
    while (s < program.statements.size() &&
           (program.statements[s].kind == StatementKind::kLifetime ||
            program.statements[s].kind == StatementKind::kSync)) {
      s += step;
    }
    const bool is_barrier =
        s < program.statements.size() && program.statements[s].kind == StatementKind::kBarrier;
    if (is_barrier) return BarrierId(program.statements[s].index);
  }
  return {};
}

std::string no_conflict_sentence(const Program& program, const RedundantBarrier& redundant) {
  const BarrierId barrier = redundant.barrier;
  const SeparatedEpochs execution = epochs_around(program, redundant, true);
  const BarrierId neighbour = neighbour_of(program, barrier);
  std::string text =
      neighbour.is_some()
          ? fmt::format("Barrier {}, at the same place, orders execution.", neighbour.index)
          : fmt::format("No access of {} conflicts with one of {}.", run_text(execution.before),
                        run_text(execution.behind));
  if (program.barriers[barrier.index].kind != BarrierKind::kFull) return text;
  const SeparatedEpochs memory = epochs_around(program, redundant, false);
  const bool is_said = !neighbour.is_some() && memory.before.begin == execution.before.begin &&
                       memory.behind.end == execution.behind.end;
  if (!is_said) {
    text += fmt::format(" No write of {} is read or overwritten by {}.", run_text(memory.before),
                        run_text(memory.behind));
  }
  return text;
}

}  // namespace

std::string description_of(const Program& program, const RedundantBarrier& redundant) {
  const BarrierId barrier = redundant.barrier;
  const NameId label = program.statements[program.barriers[barrier.index].statement.index].label;
  const std::string place = redundant.slot < program.dispatches.size()
                                ? fmt::format("before dispatch {}", redundant.slot)
                                : "after the last dispatch";
  return label.is_some()
             ? fmt::format("{} (barrier {}, {})", program.name(label), barrier.index, place)
             : fmt::format("barrier {} ({})", barrier.index, place);
}

std::string reason_of(const Program& program, const RedundantBarrier& redundant) {
  switch (redundant.reason) {
    case RedundancyReason::kNothingBefore:
      return "No dispatch stands before it.";
    case RedundancyReason::kNothingBehind:
      return "No dispatch stands after it.";
    case RedundancyReason::kSamePlace:
      return fmt::format("Barrier {}, at the same place, does what it does.",
                         redundant.other.index);
    case RedundancyReason::kNoDifference:
      return "Without it every conflict is ordered and visible as it is with it.";
    case RedundancyReason::kNoConflict:
      return no_conflict_sentence(program, redundant);
  }
  INTERLOCK_CHECK(false);
}

}  // namespace interlock
