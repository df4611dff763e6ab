// The host's cache, and what gets to and from the host's domain.
//
// What the host writes is committed when its cache writes it back: at any time, but before a
// submission, or a dependency that names the host's writes, that comes after a flush; of coherent
// memory, after the write. With it goes what stands beside in its atoms, as the cache had found it.
// If the host invalidates it first, a commit that comes later does nothing. What the host reads was
// fetched at any time since the dependencies that have taken it to the host's domain, and that the
// host knew of when it last invalidated the bytes; of coherent memory, when it read them. Which
// these are is found by a run of the machine without a cache.
#include <algorithm>
#include <iterator>
#include <utility>

#include "encoder/program/interval_map.h"
#include "simulator/schedules/machine_lines.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {
namespace {

constexpr AccessMask kOfHost = bit_of(StageAccess::kHostRead) | bit_of(StageAccess::kHostWrite);

}  // namespace

void QueueMachine::Known::add(const Known& other) {
  host_count = std::max(host_count, other.host_count);
  events.insert(other.events.begin(), other.events.end());
}

void QueueMachine::prepare_host() {
  const bool has_split_memory = std::ranges::any_of(
      program_.memories, [](const Memory& memory) { return !memory.is_unified; });
  has_host_parts_ = options_.splits_memory && has_split_memory && !program_.host_dispatches.empty();
  positions_.resize(text_.size());
  for (uint32_t i = 0; i < text_.size(); ++i) positions_[text_[i].index] = i;
  if (!has_host_parts_) return;
  lines_.emplace(program_, text_);
  for (const DispatchId dispatch : program_.host_dispatches) {
    for (const Access& access : program_.accesses_of(dispatch)) {
      if (!access.writes_plainly()) continue;
      host_cuts_[access.memory].insert({access.range.begin, access.range.end});
    }
  }
}

// Cuts the access where operands and what the host writes begin and end, and where lines of its
// cache are moved by other statements than their neighbours: each of these tells bytes apart that
// have come in time from others that have not.
void QueueMachine::add_host_pieces_in(ByteRange bytes, DispatchId dispatch, uint32_t access,
                                      bool is_beside) {
  const Access& of = program_.accesses_of(dispatch)[access];
  std::set<uint64_t> cuts = cuts_by_operands(of.memory, bytes);
  const std::set<uint64_t>& written = host_cuts_[of.memory];
  cuts.insert(written.lower_bound(bytes.begin), written.lower_bound(bytes.end));
  const MachineLines::Stay* before = nullptr;
  for (const MachineLines::Stay& stay : lines_->stays_of(dispatch)) {
    if (stay.memory != of.memory) continue;
    const bool goes_along = before != nullptr && before->bytes.end == stay.bytes.begin &&
                            before->left == stay.left && before->dropped == stay.dropped;
    if (!goes_along) cut_at(cuts, bytes, {stay.bytes.begin, bytes.end});
    before = &stay;
  }
  const StageAccess sort = of.writes_plainly() ? StageAccess::kHostWrite : StageAccess::kHostRead;
  add_pieces_between(cuts, {dispatch, access, bytes, sort, is_beside});
}

// What it accesses, and what its cache takes along.
void QueueMachine::add_host_pieces(DispatchId dispatch) {
  const auto accesses = program_.accesses_of(dispatch);
  for (uint32_t k = 0; k < accesses.size(); ++k) {
    const bool is_split =
        !accesses[k].range.is_empty() && !program_.memory(accesses[k].memory).is_unified;
    if (is_split) add_host_pieces_in(accesses[k].range, dispatch, k, false);
  }
  for (const LineContent& beside : beside_in_lines(program_, dispatch)) {
    const auto access = std::ranges::find(accesses, beside.memory, &Access::memory);
    add_host_pieces_in(beside.bytes, dispatch, static_cast<uint32_t>(access - accesses.begin()),
                       true);
  }
}

// The parts of the host's dispatch are there: commits that its cache carries on, and drops.
void QueueMachine::hold_after_own(DispatchId dispatch) {
  const Ticket end = static_cast<Ticket>(things_.size());
  const uint32_t own = positions_[program_.dispatch(dispatch).statement.index];
  for (Ticket t = first_parts_[dispatch.index]; t < end; ++t) {
    const OperationPart part = things_[t].part;
    if (part.role == PartRole::kFetch) things_[t].is_early = true;
    if (part.role != PartRole::kCommit) continue;
    const AccessPiece& piece = pieces_[part.piece];
    const MemoryId memory = program_.accesses_of(dispatch)[piece.access].memory;
    if (program_.memory(memory).atom_bytes == 0) {
      carried_from_[t] = own;
      continue;
    }
    const MachineLines::Stay stay = lines_->stay_at(dispatch, memory, piece.bytes.begin);
    if (!stay.left.is_some()) continue;
    if (!stay.is_lost) {
      carried_from_[t] = positions_[stay.left.index];
      continue;
    }
    Thing drop;
    drop.statement = program_.dispatch(dispatch).statement;
    drop.part = {dispatch, Stage::kHost, PartRole::kDrop, part.piece};
    drops_[stay.left].push_back(add_thing(std::move(drop)));
  }
}

// Runs the machine without a cache, and lets fetches wait for what it says; and the host's accesses
// to a byte come one after another.
void QueueMachine::follow_host_domain() {
  QueueMachine scout(program_, {.follows_host_domain = true, .step_limit = options_.step_limit});
  while (!scout.enabled().empty() && !scout.is_halted()) scout.run(*scout.enabled().begin());
  step_count_ += scout.step_count();
  std::set<OperationPart> drops;
  for (const auto& [invalidation, tickets] : drops_) {
    for (const Ticket drop : tickets) drops.insert(things_[drop].part);
  }
  const auto is_dropped = [&](Ticket commit) {
    OperationPart part = things_[commit].part;
    part.role = PartRole::kDrop;
    return drops.contains(part);
  };
  IntervalMap<Ticket> written;    // The latest run that writes the byte, plus 1.
  IntervalMap<Ticket> committed;  // The latest commit of it that the cache keeps, plus 1.
  IntervalMap<Ticket> lost;       // The latest one that the next invalidation loses, plus 1.
  for (const StatementId id : text_) {
    const Statement& statement = program_.statements[id.index];
    if (statement.queue != kNoQueue) continue;
    if (statement.kind == StatementKind::kSync &&
        program_.syncs[statement.index].kind == SyncKind::kHostInvalidates) {
      // What it loses is committed by then, or never.
      for (const Access& operand : program_.operands_of(program_.syncs[statement.index])) {
        const Memory& memory = program_.memory(operand.memory);
        if (memory.atom_bytes == 0) continue;
        lost.assign(operand.memory, whole_lines(memory, operand.range), 0);
      }
    }
    if (statement.kind != StatementKind::kDispatch) continue;
    const DispatchId dispatch(size_t{statement.index});
    const Ticket run = ticket_of({dispatch, Stage::kHost});
    const auto hold_by = [&](Ticket held, const IntervalMap<Ticket>& last, MemoryId memory,
                             ByteRange bytes) {
      last.for_each(memory, bytes, [&](const auto& at) {
        if (at.value > 0 && at.value - 1 != held) hold(held, at.value - 1);
      });
    };
    for (Ticket t = first_parts_[dispatch.index]; t < first_parts_[dispatch.index + 1]; ++t) {
      const OperationPart part = things_[t].part;
      if (part.role == PartRole::kRun || part.role == PartRole::kDrop) continue;
      const AccessPiece& piece = pieces_[part.piece];
      const MemoryId memory = program_.accesses_of(dispatch)[piece.access].memory;
      if (part.role == PartRole::kFetch) {
        hold_by(t, written, memory, piece.bytes);
      } else {
        hold_by(t, committed, memory, piece.bytes);
        hold_by(t, lost, memory, piece.bytes);
        (is_dropped(t) ? lost : committed).assign(memory, piece.bytes, t + 1);
        if (!piece.is_beside) written.assign(memory, piece.bytes, run + 1);
      }
    }
    hold_fetches(dispatch, scout);
    for (Ticket t = first_parts_[dispatch.index]; t < first_parts_[dispatch.index + 1]; ++t) {
      if (things_[t].is_early) release(t);
    }
  }
}

void QueueMachine::hold_fetches(DispatchId dispatch, const QueueMachine& scout) {
  const auto known_at = [&](StatementId id) -> const Known* {
    const auto found = scout.known_at_.find(id);
    return found == scout.known_at_.end() ? nullptr : &found->second;
  };
  for (Ticket t = first_parts_[dispatch.index]; t < first_parts_[dispatch.index + 1]; ++t) {
    const OperationPart part = things_[t].part;
    if (part.role != PartRole::kFetch) continue;
    const AccessPiece& piece = pieces_[part.piece];
    const MemoryId memory = program_.accesses_of(dispatch)[piece.access].memory;
    StatementId since = program_.dispatch(dispatch).statement;
    if (program_.memory(memory).atom_bytes > 0) {
      since = lines_->stay_at(dispatch, memory, piece.bytes.begin).dropped;
    }
    const Known* const known = since.is_some() ? known_at(since) : nullptr;
    if (known == nullptr) continue;
    for (const DomainEvent& event : known->events) {
      if (event.dependency != DomainEvent::kImplied && !reaches(event, memory, piece.bytes)) {
        continue;
      }
      if (const std::optional<DispatchId> from = source_of_edge(event)) {
        // Where the edge leads may be submitted later.
        const Ticket end = first_parts_[from->index + 1];
        for (Ticket own = first_parts_[from->index]; own < end; ++own) hold(t, own);
        continue;
      }
      auto marker = markers_.find(event);
      if (marker == markers_.end()) {
        Thing thing;
        thing.kind = ThingKind::kMarker;
        thing.statement = event.statement;
        marker = markers_.emplace(event, add_thing(std::move(thing))).first;
      }
      hold(t, marker->second);
    }
  }
}

// The name of a dependency to those who follow what it takes to the host's domain.
void QueueMachine::name_gate(Ticket gate, const DomainEvent& event) {
  Thing& thing = things_[gate];
  thing.event = event;
  const bool reaches_host = (thing.holds_back.accesses & kOfHost) != 0;
  if (options_.follows_host_domain && reaches_host) thing.known.events.insert(event);
}

// None of another dependency.
std::optional<DispatchId> QueueMachine::source_of_edge(const DomainEvent& event) const {
  const Statement& statement = program_.statements[event.statement.index];
  const bool leads_to_dispatch = statement.kind == StatementKind::kDispatch &&
                                 event.dependency != DomainEvent::kImplied &&
                                 !is_transition(event.statement);
  if (!leads_to_dispatch) return std::nullopt;
  return program_.edges_to(DispatchId(size_t{statement.index}))[event.dependency].from;
}

// The operands of the dependency have some of the bytes.
bool QueueMachine::reaches(const DomainEvent& event, MemoryId memory, ByteRange bytes) const {
  const Statement& statement = program_.statements[event.statement.index];
  const auto has_some = [&](std::span<const Access> operands) {
    return std::ranges::any_of(operands, [&](const Access& operand) {
      return operand.memory == memory && share_a_byte(operand.range, bytes);
    });
  };
  if (statement.kind == StatementKind::kDispatch) {
    const uint32_t transition = program_.dispatches[statement.index].transition;
    if (!is_transition(event.statement)) return true;  // An edge.
    return has_some(program_.operands_of(program_.dependencies[transition]));
  }
  const auto dependencies = statement.kind == StatementKind::kBarrier
                                ? program_.dependencies_of(program_.barriers[statement.index])
                                : program_.dependencies_of(program_.syncs[statement.index]);
  if (dependencies.empty()) return true;  // A full one.
  const auto operands = program_.operands_of(dependencies[event.dependency]);
  return operands.empty() || has_some(operands);
}

// All of it may go on now, as what holds it allows.
void QueueMachine::arrive_at(DispatchId dispatch) {
  if (options_.follows_host_domain) {
    known_at_[program_.dispatch(dispatch).statement] = host_known_;
  }
  for (Ticket t = first_parts_[dispatch.index]; t < first_parts_[dispatch.index + 1]; ++t) {
    Thing& thing = things_[t];
    if (thing.is_over || thing.part.role == PartRole::kDrop) continue;
    if (std::exchange(thing.is_early, false)) early_.erase(thing.part);
    if (thing.part.role == PartRole::kCommit) cached_.insert(t);
    release(t);
  }
}

// Whether the host is over with what it drops there, if anything.
bool QueueMachine::drop_at(StatementId invalidation) {
  const auto found = drops_.find(invalidation);
  if (found == drops_.end()) return true;
  bool is_over = true;
  for (const Ticket drop : found->second) {
    if (things_[drop].is_over) continue;
    is_over = false;
    release(drop);
  }
  return is_over;
}

// All of the queue up to here, once what the host wrote before is there.
void QueueMachine::submit(QueueIndex queue) {
  QueueState& state = queues_[queue];
  while (state.submitted_count < state.positions.size() &&
         state.positions[state.submitted_count] <= host_next_) {
    ++state.submitted_count;
  }
  std::vector<Ticket> holders;
  for (const Ticket commit : cached_) {
    if (is_carried(commit, host_next_)) holders.push_back(commit);
  }
  if (holders.empty()) {
    state.handed_count = state.submitted_count;
    return;
  }
  Thing submission;
  submission.kind = ThingKind::kSubmission;
  submission.handed_count = state.submitted_count;
  submission.queue_to = queue;
  submission.statement = text_[host_next_];
  const Ticket ticket = add_thing(std::move(submission));
  for (const Ticket commit : holders) hold(ticket, commit);
  release(ticket);
}

// A dependency that comes after so much of the host needs this commit.
bool QueueMachine::is_carried(Ticket commit, uint32_t host_count) const {
  const auto from = carried_from_.find(commit);
  return from != carried_from_.end() && from->second < host_count;
}

// Returns whether what the host wrote holds it.
bool QueueMachine::hold_by_commits(Ticket gate) {
  if (cached_.empty() || things_[gate].kind != ThingKind::kGate) return false;
  const End source = things_[gate].takes;
  if ((source.accesses & bit_of(StageAccess::kHostWrite)) == 0) return false;
  const uint32_t count = things_[gate].known.host_count;
  bool is_held = false;
  for (const Ticket commit : cached_) {
    if (!is_carried(commit, count) || !covers(source, things_[commit].part)) continue;
    hold(gate, commit);
    is_held = true;
  }
  return is_held;
}

QueueMachine::Known QueueMachine::known_by_joins(QueueIndex queue) const {
  Known known = queues_[queue].known;
  const QueueKind kind = program_.kind_of(queue);
  if (kind == QueueKind::kSerial) return known;
  const QueueKind others =
      kind == QueueKind::kLegacyDefault ? QueueKind::kSerialBlocking : QueueKind::kLegacyDefault;
  for (size_t q = 0; q < queues_.size(); ++q) {
    if (program_.kind_of(static_cast<QueueIndex>(q)) == others) known.add(queues_[q].known);
  }
  return known;
}

// The full dependency that a serial queue implies names the host's writes.
bool QueueMachine::waits_for_commits(QueueIndex queue) const {
  const uint32_t count = known_by_joins(queue).host_count;
  return std::ranges::any_of(cached_, [&](Ticket commit) { return is_carried(commit, count); });
}

// And takes to the host's domain what comes before; so does one that joins others.
void QueueMachine::pass_implied(QueueIndex queue) {
  QueueState& state = queues_[queue];
  Known known = known_by_joins(queue);
  const QueueKind kind = program_.kind_of(queue);
  for (size_t q = 0; options_.follows_host_domain && q < queues_.size(); ++q) {
    const QueueKind other = program_.kind_of(static_cast<QueueIndex>(q));
    const bool is_joined = other != kind && kind != QueueKind::kSerial &&
                           other != QueueKind::kSerial && is_serial(static_cast<QueueIndex>(q));
    const QueueState& from = queues_[q];
    if ((q != queue && !is_joined) || from.taken_count == 0) continue;
    // The latest one stands for those before it.
    const auto event_of = [&](size_t taken) { return DomainEvent{text_[from.positions[taken]]}; };
    if (from.taken_count > 1) known.events.erase(event_of(from.taken_count - 2));
    known.events.insert(event_of(from.taken_count - 1));
  }
  state.known = std::move(known);
}

// Of a serial queue, once nothing of its latest statement is pending.
void QueueMachine::end_implied(QueueIndex queue) {
  const QueueState& state = queues_[queue];
  if (markers_.empty() || !is_serial(queue) || state.taken_count == 0) return;
  if (state.pending_count > 0) return;
  const auto marker = markers_.find({text_[state.positions[state.taken_count - 1]]});
  if (marker != markers_.end() && !things_[marker->second].is_over) end(marker->second);
}

// Of the weakest signal that may meet the wait; what is met without one orders nothing.
QueueMachine::Known QueueMachine::known_of_wait(const SyncStep& step) const {
  const bool is_met_at_once =
      step.is_from_outside || program_.semaphores[step.semaphore.index].initial >= step.value;
  if (is_met_at_once) return Known();
  const auto& fired = fired_[step.semaphore.index];
  const auto found = fired.lower_bound(step.value);
  return found == fired.end() ? Known() : found->second;
}

QueueMachine::Known QueueMachine::known_of_idle(QueueIndex queue) const {
  Known known;
  for (size_t q = 0; q < queues_.size(); ++q) {
    if (queue != kNoQueue && queue != q) continue;
    known.add(queues_[q].known);
    for (const Ticket gate : queues_[q].gates.tickets) known.add(things_[gate].known);
    for (const Ticket part : queues_[q].parts.tickets) known.add(things_[part].known);
  }
  return known;
}

}  // namespace interlock
