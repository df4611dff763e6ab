// What need not hold later things by itself any more, as what waits for it holds them: so that long
// programs do not keep all that stands before each thing.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <vector>

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
  std::erase_if(queues_[queue].orders.tickets, [&](Ticket ticket) {
    const Thing& thing = things_[ticket];
    return is_in(thing, ends.source) && (thing.holds_back.stages & ~after.stages) == 0;
  });
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
    std::erase_if(queues_[queue].orders.tickets, [&](Ticket ticket) {
      return held_by.contains(ticket) && (things_[ticket].holds_back.stages & ~stages) == 0;
    });
  }
}

// A counter that has come to this value has come to lower ones.
void QueueMachine::prune_waits(QueueIndex queue, const SyncStep& step, StageMask stages) {
  const auto is_met_before = [&](Ticket ticket) {
    const Thing& thing = things_[ticket];
    const Statement& statement = program_.statements[thing.statement.index];
    if (statement.kind != StatementKind::kSync || statement.index == options_.withheld_wait ||
        thing.is_joint) {
      return false;
    }
    const SyncStep& earlier = program_.syncs[statement.index];
    return earlier.kind == SyncKind::kWait && !earlier.is_from_outside && !step.is_from_outside &&
           earlier.semaphore == step.semaphore && earlier.value <= step.value &&
           (thing.holds_back.stages & ~stages) == 0;
  };
  std::erase_if(queues_[queue].gates.tickets, is_met_before);
  std::erase_if(queues_[queue].orders.tickets, is_met_before);
}

// Later things of the queue are held by it.
void QueueMachine::stand(QueueIndex queue, Ticket gate) {
  queues_[queue].gates.tickets.push_back(gate);
  queues_[queue].orders.tickets.push_back(gate);
}

// Gates that hold back the same, where there are many, are held by one more in their place, so that
// each later thing waits for a few and not for all.
void QueueMachine::join_gates(QueueIndex queue) {
  if (follows()) return;  // What each knows of the host is asked for by itself.
  join_alike(queue, queues_[queue].gates, true);
  join_alike(queue, queues_[queue].orders, false);
  join_runs(queue);
}

// Likewise what has not run: whoever waits for its stage waits for one gate.
void QueueMachine::join_runs(QueueIndex queue) {
  Standing& standing = queues_[queue].parts;
  if (standing.tickets.size() < std::max(standing.join_at, 2 * options_.joined_min)) return;
  std::array<std::vector<Ticket>, kStageCount> runs;
  std::vector<Ticket> left;
  for (const Ticket ticket : standing.tickets) {
    const Thing& thing = things_[ticket];
    if (thing.is_over) continue;
    const bool is_run = thing.part.role == PartRole::kRun && thing.part.stage != Stage::kTransition;
    (is_run ? runs[static_cast<size_t>(thing.part.stage)] : left).push_back(ticket);
  }
  step_count_ += standing.tickets.size();
  for (const std::vector<Ticket>& alike : runs) {
    if (alike.size() < options_.joined_min) {
      left.insert(left.end(), alike.begin(), alike.end());
      continue;
    }
    const Ticket joint = add_gate(queue, things_[alike.back()].statement, {});
    things_[joint].is_joint = true;
    things_[joint].part.stage = things_[alike.back()].part.stage;
    for (const Ticket ticket : alike) hold(joint, ticket);
    left.push_back(joint);
    release(joint);
  }
  // As they stand in the queue.
  std::ranges::stable_sort(left, {}, [this](Ticket ticket) { return things_[ticket].statement; });
  standing.tickets = std::move(left);
  standing.join_at = 2 * standing.tickets.size();
}

void QueueMachine::join_alike(QueueIndex queue, Standing& standing, bool has_bytes) {
  if (standing.tickets.size() < std::max(standing.join_at, 2 * options_.joined_min)) return;
  using Key = std::tuple<StageMask, AccessMask, std::ptrdiff_t, size_t>;
  std::map<Key, std::vector<Ticket>> alike;
  for (const Ticket ticket : standing.tickets) {
    if (things_[ticket].is_over || things_[ticket].holds_back.stages == 0) continue;
    const End& holds = things_[ticket].holds_back;
    Key key(holds.stages, 0, 0, 0);
    if (has_bytes && holds.operands.empty()) key = {holds.stages, holds.accesses, 0, 0};
    if (has_bytes && !holds.operands.empty()) {
      const std::ptrdiff_t first = holds.operands.data() - program_.barrier_operands.data();
      key = {holds.stages, holds.accesses, first, holds.operands.size()};
    }
    alike[key].push_back(ticket);
  }
  step_count_ += standing.tickets.size();
  standing.tickets.clear();
  for (const auto& [key, tickets] : alike) {
    if (tickets.size() < options_.joined_min) {
      standing.tickets.insert(standing.tickets.end(), tickets.begin(), tickets.end());
      continue;
    }
    End holds = things_[tickets.back()].holds_back;
    if (!has_bytes) holds = {holds.stages, 0, {}};
    const Ticket joint = add_gate(queue, things_[tickets.back()].statement, holds);
    things_[joint].is_joint = true;
    for (const Ticket ticket : tickets) hold(joint, ticket);
    standing.tickets.push_back(joint);
    release(joint);
  }
  standing.join_at = 2 * standing.tickets.size();
}

}  // namespace interlock
