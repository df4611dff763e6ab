// What need not hold later things by itself any more, as what waits for it holds them: so that long
// programs do not keep all that stands before each thing.
#include <algorithm>
#include <span>

#include "simulator/schedules/queue_machine.h"

namespace interlock {
namespace {

// Whether what these operands cover, all bytes if there are none, `by` covers, too.
bool are_covered(std::span<const Access> operands, std::span<const Access> by) {
  if (by.empty()) return true;
  return !operands.empty() && std::ranges::all_of(operands, [&](const Access& operand) {
    return std::ranges::any_of(by, [&](const Access& other) {
      return other.memory == operand.memory && other.range.begin <= operand.range.begin &&
             operand.range.end <= other.range.end;
    });
  });
}

}  // namespace

// What a new gate waits for holds nothing later by itself, if the gate holds back all that it
// would.
void QueueMachine::prune(QueueIndex queue, const Ends& ends) {
  const End& after = ends.destination;
  std::erase_if(queues_[queue].parts.tickets, [&](Ticket ticket) {
    const Thing& thing = things_[ticket];
    return is_in(thing, ends.source) && (after.stages & bit_of(thing.part.stage)) != 0;
  });
  std::erase_if(queues_[queue].gates.tickets,
                [&](Ticket ticket) { return is_gate_within(things_[ticket], ends); });
}

bool QueueMachine::is_gate_within(const Thing& thing, const Ends& ends) const {
  if (!is_in(thing, ends.source)) return false;
  const End& after = ends.destination;
  const bool has_stages = (thing.holds_back.stages & ~after.stages) == 0;
  const bool has_accesses = (thing.holds_back.accesses & ~after.accesses) == 0 &&
                            are_covered(thing.holds_back.operands, after.operands);
  return has_stages && (has_accesses || !options_.splits_memory);
}

// As prune(), of what stood when the event was set: it holds the event's gates, unless it is over.
void QueueMachine::prune_by_event(QueueIndex queue, const SyncStep& await) {
  const SyncStep& set = program_.syncs[await.partner];
  const std::vector<Ends> all = ends_of(set.barrier_kind, program_.dependencies_of(set));
  const std::vector<Ticket>& gates = event_gates_[await.partner];
  for (size_t i = 0; i < all.size() && i < gates.size(); ++i) {
    const std::set<Ticket>& held_by = things_[gates[i]].held_by;
    const StageMask stages = all[i].destination.stages;
    std::erase_if(queues_[queue].parts.tickets, [&](Ticket ticket) {
      return held_by.contains(ticket) && (stages & bit_of(things_[ticket].part.stage)) != 0;
    });
    std::erase_if(queues_[queue].gates.tickets, [&](Ticket ticket) {
      return held_by.contains(ticket) && is_gate_within(things_[ticket], all[i]);
    });
  }
}

// A counter that has come to this value has come to lower ones.
void QueueMachine::prune_waits(QueueIndex queue, const SyncStep& step, StageMask stages) {
  std::erase_if(queues_[queue].gates.tickets, [&](Ticket ticket) {
    const Thing& thing = things_[ticket];
    const Statement& statement = program_.statements[thing.statement.index];
    if (statement.kind != StatementKind::kSync || statement.index == options_.withheld_wait)
      return false;
    const SyncStep& earlier = program_.syncs[statement.index];
    return earlier.kind == SyncKind::kWait && !earlier.is_from_outside && !step.is_from_outside &&
           earlier.semaphore == step.semaphore && earlier.value <= step.value &&
           (thing.holds_back.stages & ~stages) == 0;
  });
}

}  // namespace interlock
