// What front ends take, what holds it, and how it ends.
#include <algorithm>
#include <utility>

#include "encoder/program/check.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {
namespace {

bool includes(StageMask stages, Stage stage) { return (stages & bit_of(stage)) != 0; }

}  // namespace

// Whoever waits for the compute or the graphics stage waits for the indirect one, which comes
// before both (Vulkan 1.3, 7.1), of whatever command.
StageMask QueueMachine::as_source(StageMask stages) {
  const bool has_work =
      (stages & bit_of(Stage::kCompute)) != 0 || (stages & bit_of(Stage::kGraphics)) != 0;
  return has_work ? static_cast<StageMask>(stages | bit_of(Stage::kIndirect)) : stages;
}

// What is held back in the indirect stage is so in the compute or graphics stage of the same
// command, which comes later.
StageMask QueueMachine::as_destination(StageMask stages) {
  const bool has_indirect = (stages & bit_of(Stage::kIndirect)) != 0;
  return has_indirect
             ? static_cast<StageMask>(stages | bit_of(Stage::kCompute) | bit_of(Stage::kGraphics))
             : stages;
}

QueueMachine::Ticket QueueMachine::ticket_of(const OperationPart& part) const {
  for (Ticket t = first_parts_[part.dispatch.index]; t < things_.size(); ++t) {
    if (things_[t].part == part) return t;
  }
  INTERLOCK_CHECK(false);
  return 0;
}

QueueMachine::Ticket QueueMachine::add_gate(QueueIndex queue, StatementId id, const End& holds) {
  Thing gate;
  gate.kind = ThingKind::kGate;
  gate.holds_back = holds;
  gate.queue = queue;
  gate.statement = id;
  return add_thing(gate);
}

void QueueMachine::take_dispatch(QueueIndex queue, DispatchId dispatch) {
  const Ticket first = first_parts_[dispatch.index];
  const Ticket end = first_parts_[dispatch.index + 1];
  for (Ticket part = first; part < end; ++part) hold_by_gates(part);
  uint32_t number = 0;
  for (const Edge& edge : program_.edges_to(dispatch)) {
    const bool has_gate = follows() && !edge.is_programmatic;
    has_gate ? hold_by_edge_gate(queue, edge, number) : hold_by_edge(edge);
    ++number;
  }
  for (Ticket part = first; part < end; ++part) {
    // Whoever waits for what runs waits for what it fetches.
    if (things_[part].part.role != PartRole::kFetch) queues_[queue].parts.tickets.push_back(part);
    release(part);
  }
}

// A programmatic edge is of execution only.
void QueueMachine::hold_by_edge(const Edge& edge) {
  for (Ticket to = first_parts_[edge.to.index]; to < first_parts_[edge.to.index + 1]; ++to) {
    for (Ticket from = first_parts_[edge.from.index]; from < first_parts_[edge.from.index + 1];
         ++from) {
      const bool is_execution =
          things_[to].part.role == PartRole::kRun && things_[from].part.role == PartRole::kRun;
      if (is_execution || !edge.is_programmatic) hold(to, from);
    }
  }
}

// Beside the host: what it wrote goes along with a full edge, which takes to its domain what is
// there.
void QueueMachine::hold_by_edge_gate(QueueIndex queue, const Edge& edge, uint32_t number) {
  const End all = {kAllStages, kAllAccesses};
  const StatementId id = program_.dispatch(edge.to).statement;
  const Ticket gate = add_gate(queue, id, all);
  things_[gate].takes = all;
  name_gate(gate, {id, number});
  for (Ticket t = first_parts_[edge.from.index]; t < first_parts_[edge.from.index + 1]; ++t) {
    hold(gate, t);
  }
  for (Ticket t = first_parts_[edge.to.index]; t < first_parts_[edge.to.index + 1]; ++t) {
    hold(t, gate);
  }
  release(gate);
}

void QueueMachine::take_sync(QueueIndex queue, StatementId id, const SyncStep& step) {
  const size_t index = program_.statements[id.index].index;
  switch (step.kind) {
    case SyncKind::kSignal:
      take_signal(queue, id, step);
      break;
    case SyncKind::kWait:
      take_wait(queue, id, step);
      break;
    case SyncKind::kSet:
      event_gates_[index] =
          take_gates(queue, id, ends_of(step.barrier_kind, program_.dependencies_of(step)));
      break;
    case SyncKind::kAwait: {
      // What was taken in between has not been held by them.
      prune_by_event(queue, step);
      for (const Ticket gate : event_gates_[step.partner]) stand(queue, gate);
      break;
    }
    default:
      break;
  }
}

void QueueMachine::take_barrier(QueueIndex queue, StatementId id, const Barrier& barrier) {
  take_transition_gates(queue, id, barrier);
  const std::vector<Ticket> gates =
      take_gates(queue, id, ends_of(barrier.kind, program_.dependencies_of(barrier)));
  // Its own transitions wait for earlier ones, and not for its gates.
  const bool has_transitions = is_transition(StatementId(size_t{id.index} + 1));
  for (const Ends& ends : ends_of(barrier.kind, program_.dependencies_of(barrier))) {
    if (!has_transitions) prune(queue, ends);
  }
  for (const Ticket gate : gates) stand(queue, gate);
}

std::vector<QueueMachine::Ends> QueueMachine::ends_of(
    BarrierKind kind, std::span<const Dependency> dependencies) const {
  const AccessMask accesses = kind == BarrierKind::kFull ? kAllAccesses : AccessMask{0};
  const End all = {kAllStages, accesses};
  if (kind != BarrierKind::kScoped) return {{all, all}};
  std::vector<Ends> ends;
  for (const Dependency& dependency : dependencies) {
    const auto operands = program_.operands_of(dependency);
    const Scope& source = dependency.source;
    const Scope& destination = dependency.destination;
    ends.push_back({{as_source(source.stages), source.accesses, operands},
                    {as_destination(destination.stages), destination.accesses, operands}});
  }
  return ends;
}

// What holds them is what stands before the command, and no other dependency of it.
std::vector<QueueMachine::Ticket> QueueMachine::take_gates(QueueIndex queue, StatementId id,
                                                           const std::vector<Ends>& all) {
  std::vector<Ticket> gates;
  for (const Ends& ends : all) {
    const Ticket gate = add_gate(queue, id, ends.destination);
    name_gate(gate, {id, static_cast<uint32_t>(gates.size())});
    gates.push_back(gate);
    hold_by_source(gate, ends.source);
  }
  for (const Ticket gate : gates) release(gate);
  return gates;
}

void QueueMachine::take_wait(QueueIndex queue, StatementId id, const SyncStep& step) {
  const bool is_over = is_met(step);
  if (is_over && !follows()) return;
  const bool is_graph = program_.kind_of(queue) == QueueKind::kGraph;
  Thing gate;
  gate.kind = ThingKind::kGate;
  gate.holds_back = {is_graph ? kAllStages : as_destination(step.stages), kAllAccesses};
  gate.queue = queue;
  gate.statement = id;
  gate.waits_for_counter = !is_over;
  if (is_over) gate.known = known_of_wait(step);
  if (!follows()) prune_waits(queue, step, gate.holds_back.stages);
  const Ticket ticket = add_thing(gate);
  const bool is_withheld = options_.withheld_wait == program_.statements[id.index].index;
  if (!is_over && !is_withheld) waits_[step.semaphore.index].emplace(step.value, ticket);
  stand(queue, ticket);
  release(ticket);
}

// A part covers what earlier signals of the queue do, and not the other parts (Vulkan 1.3, 7.4.1).
void QueueMachine::take_signal(QueueIndex queue, StatementId id, const SyncStep& step) {
  std::vector<Ticket> batch;
  const bool is_graph = program_.kind_of(queue) == QueueKind::kGraph;
  for (uint32_t k = 0; k < step.count; ++k) {
    const SignalPart& part = program_.signal_parts[step.first + k];
    Thing signal;
    signal.kind = ThingKind::kSignal;
    signal.queue = queue;
    signal.statement = id;
    signal.signal = part;
    signal.signal_index = step.first + k;
    batch.push_back(add_thing(signal));
    const StageMask stages = is_graph ? kAllStages : as_source(part.stages);
    // What an earlier signal waits for need not be waited for twice.
    StatementId covered;
    for (const Ticket earlier : queues_[queue].last_batch) {
      const bool covers_all =
          (stages & ~as_source(things_[earlier].signal.stages)) == 0 || is_graph;
      if (covers_all) covered = things_[earlier].statement;
    }
    hold_by_source(batch.back(), {stages, kAllAccesses}, covered);
    for (const Ticket earlier : queues_[queue].last_batch) hold(batch.back(), earlier);
  }
  queues_[queue].last_batch = batch;
  for (const Ticket signal : batch) release(signal);
}

QueueMachine::Ticket QueueMachine::add_thing(Thing thing) {
  const bool is_serial_thing = follows() && thing.kind != ThingKind::kPart &&
                               thing.queue != kNoQueue && is_serial(thing.queue);
  if (is_serial_thing) thing.known.add(queues_[thing.queue].known);
  things_.push_back(std::move(thing));
  return static_cast<Ticket>(things_.size() - 1);
}

// What chains through a thing learns by way of it: in graph queues chains lead through operations.
bool QueueMachine::passes_on(const Thing& thing) const {
  if (thing.kind != ThingKind::kPart) return true;
  return thing.queue != kNoQueue && program_.kind_of(thing.queue) == QueueKind::kGraph;
}

void QueueMachine::add_known(Ticket to, const Known& known) {
  if (known.is_empty() || !passes_on(things_[to])) return;
  step_count_ += known.events.size();
  things_[to].known.add(known);
}

void QueueMachine::hold(Ticket held, Ticket holder) {
  add_known(held, things_[holder].known);
  if (things_[holder].is_over) return;
  if (things_[held].held_by.insert(holder).second) things_[holder].holds.push_back(held);
}

// In all linear: only when half of it may be over.
void QueueMachine::drop_over(Standing& standing) {
  if (standing.tickets.size() < standing.compact_at) return;
  step_count_ += standing.tickets.size();
  std::erase_if(standing.tickets, [this](Ticket ticket) {
    return things_[ticket].is_over && things_[ticket].known.is_empty();
  });
  standing.compact_at = std::max<size_t>(64, 2 * standing.tickets.size());
}

// A run by its stage, a fetch by its sort and bytes. Commits come when they like.
void QueueMachine::hold_by_gates(Ticket part) {
  const OperationPart& held = things_[part].part;
  if (held.role == PartRole::kCommit) return;
  QueueState& queue = queues_[things_[part].queue];
  Standing& gates = held.role == PartRole::kRun ? queue.orders : queue.gates;
  drop_over(gates);
  step_count_ += gates.tickets.size();
  const StatementId own_barrier = barrier_of(things_[part].statement);
  for (const Ticket ticket : gates.tickets) {
    const Thing& thing = things_[ticket];
    if (!includes(thing.holds_back.stages, held.stage)) continue;
    if (thing.statement == own_barrier) continue;  // It is no later command.
    if (held.role == PartRole::kRun || covers(thing.holds_back, held)) hold(part, ticket);
  }
}

void QueueMachine::hold_by_source(Ticket held, const End& source, StatementId covered) {
  things_[held].takes = source;
  QueueState& queue = queues_[things_[held].queue];
  drop_over(queue.parts);
  drop_over(queue.orders);
  const auto hold_if_in = [&](Ticket ticket) {
    ++step_count_;
    if (is_in(things_[ticket], source)) hold(held, ticket);
  };
  // As they stand in the queue.
  for (size_t i = queue.parts.tickets.size(); i-- > 0;) {
    const Ticket ticket = queue.parts.tickets[i];
    if (covered.is_some() && things_[ticket].statement < covered) break;
    hold_if_in(ticket);
  }
  for (const Ticket ticket : queue.orders.tickets) hold_if_in(ticket);
}

bool QueueMachine::is_in(const Thing& thing, const End& source) const {
  const bool is_of_runs = thing.is_joint && thing.holds_back.stages == 0;
  if (thing.kind == ThingKind::kGate && !is_of_runs) {
    return (thing.holds_back.stages & source.stages) != 0;
  }
  if (!includes(source.stages, thing.part.stage)) return false;
  return thing.part.role == PartRole::kRun || covers(source, thing.part);
}

// The sort and the bytes of a fetch or a commit.
bool QueueMachine::covers(const End& end, const OperationPart& part) const {
  const AccessPiece& piece = pieces_[part.piece];
  // A transition sees what is available, and what it writes is available at once
  // (Vulkan 1.3, 7.1.1).
  if (is_of_transition(piece.sort)) return true;
  if ((end.accesses & bit_of(piece.sort)) == 0) return false;
  const MemoryId memory = program_.accesses_of(piece.dispatch)[piece.access].memory;
  return end.operands.empty() || std::ranges::any_of(end.operands, [&](const Access& operand) {
           return operand.memory == memory && share_a_byte(operand.range, piece.bytes);
         });
}

void QueueMachine::release(Ticket ticket) {
  Thing& thing = things_[ticket];
  if (!std::exchange(thing.is_taken, true) && thing.queue != kNoQueue) {
    ++queues_[thing.queue].pending_count;
  }
  if (thing.is_over || thing.waits_for_counter || !thing.held_by.empty()) return;
  if (thing.kind == ThingKind::kMarker || hold_by_commits(ticket)) return;
  if (thing.kind == ThingKind::kPart) {
    (thing.is_early ? early_ : enabled_).insert(thing.part);
  } else if (thing.kind != ThingKind::kSignal || thing.signal_index != options_.withheld) {
    free_.push_back(ticket);
  }
}

void QueueMachine::end(Ticket ticket) {
  Thing& thing = things_[ticket];
  thing.is_over = true;
  cached_.erase(ticket);
  if (thing.queue != kNoQueue) {
    --queues_[thing.queue].pending_count;
    if (follows() && is_serial(thing.queue)) queues_[thing.queue].known.add(thing.known);
    end_implied(thing.queue);
  }
  if (thing.kind == ThingKind::kSignal) {
    raise(thing.signal.semaphore, thing.signal.value, thing.known);
  }
  if (thing.kind == ThingKind::kSubmission) {
    QueueState& to = queues_[thing.queue_to];
    to.handed_count = std::max(to.handed_count, thing.handed_count);
  }
  if (const auto marker = markers_.find(thing.event);
      thing.kind == ThingKind::kGate && marker != markers_.end()) {
    end(marker->second);
  }
  keep_latest_event(ticket);
  const Known known = things_[ticket].known;
  for (const Ticket held : std::exchange(things_[ticket].holds, {})) {
    add_known(held, known);
    things_[held].held_by.erase(ticket);
    if (things_[held].is_taken) release(held);
  }
}

// An edge stands for all that came to the host's domain before it: it takes all bytes there.
void QueueMachine::keep_latest_event(Ticket ticket) {
  Thing& thing = things_[ticket];
  if (!is_of_edge(thing) || thing.known.events.empty()) return;
  thing.known.events = {thing.event};
}

// A counter never goes down.
void QueueMachine::raise(SemaphoreId semaphore, uint64_t value, const Known& known) {
  if (follows()) fired_[semaphore.index][value].add(known);
  uint64_t& counter = counters_[semaphore.index];
  counter = std::max(counter, value);
  auto& waits = waits_[semaphore.index];
  while (!waits.empty() && waits.begin()->first <= counter) {
    const Ticket gate = waits.begin()->second;
    waits.erase(waits.begin());
    things_[gate].waits_for_counter = false;
    if (follows()) {
      const Statement& wait = program_.statements[things_[gate].statement.index];
      things_[gate].known.add(known_of_wait(program_.syncs[wait.index]));
    }
    release(gate);
  }
}

}  // namespace interlock
