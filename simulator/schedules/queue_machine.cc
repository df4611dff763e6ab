// The basic idea: a front end hands each thing that it takes the set of what holds it, which only
// shrinks. When a set is empty the thing may run; a barrier or a signal does so by itself.
#include "simulator/schedules/queue_machine.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// Where command buffers and values end, a queue has nothing to do.
bool does_anything(const Program& program, const Statement& statement) {
  if (statement.kind == StatementKind::kLifetime) return false;
  return statement.kind != StatementKind::kSync ||
         program.syncs[statement.index].kind != SyncKind::kSplit;
}

bool is_submit(const Program& program, const Statement& statement) {
  return statement.kind == StatementKind::kSync &&
         program.syncs[statement.index].kind == SyncKind::kSubmit;
}

std::vector<StatementId> in_text_order(const Program& program) {
  std::vector<StatementId> text;
  for (size_t i = 0; i < program.statements.size(); ++i) text.push_back(StatementId(i));
  if (program.text_order == nullptr) return text;
  std::ranges::sort(text, {}, [&program](StatementId statement) {
    return program.text_order->statements[statement.index];
  });
  return text;
}

}  // namespace

QueueMachine::QueueMachine(const Program& program, const QueueMachineOptions& options)
    : program_(program),
      options_(options),
      text_(in_text_order(program)),
      is_handed_at_end_(program.statements.size(), true),
      queues_(program.queue_count()),
      waits_(program.semaphores.size()),
      event_gates_(program.syncs.size()) {
  for (const Semaphore& semaphore : program.semaphores) counters_.push_back(semaphore.initial);
  fired_.resize(program.semaphores.size());
  prepare_host();
  for (size_t i = 0; i < program.dispatches.size(); ++i) add_parts(DispatchId(i));
  first_parts_.push_back(static_cast<Ticket>(things_.size()));
  std::vector<bool> is_submitted_later(program.queue_count(), false);
  for (uint32_t i = static_cast<uint32_t>(text_.size()); i-- > 0;) {
    const Statement& statement = statement_at(i);
    if (statement.queue == kNoQueue) continue;
    const bool submits = is_submit(program, statement);
    if (submits) is_submitted_later[statement.queue] = true;
    is_handed_at_end_[i] = !submits && !is_submitted_later[statement.queue];
  }
  for (uint32_t i = 0; i < text_.size(); ++i) {
    const Statement& statement = statement_at(i);
    if (statement.queue == kNoQueue || is_submit(program, statement)) continue;
    if (does_anything(program, statement)) queues_[statement.queue].positions.push_back(i);
  }
  if (has_host_parts_) follow_host_domain();
  settle();
}

std::vector<OperationPart> QueueMachine::parts_of(DispatchId dispatch) const {
  std::vector<OperationPart> parts;
  for (Ticket t = first_parts_[dispatch.index]; t < first_parts_[dispatch.index + 1]; ++t) {
    parts.push_back(things_[t].part);
  }
  return parts;
}

std::optional<OperationPart> QueueMachine::next_part(DispatchId dispatch) const {
  for (Ticket t = first_parts_[dispatch.index]; t < first_parts_[dispatch.index + 1]; ++t) {
    if (!things_[t].is_over) return things_[t].part;
  }
  return std::nullopt;
}

bool QueueMachine::is_done() const {
  if (host_next_ < program_.statements.size() || !cached_.empty()) return false;
  for (size_t q = 0; q < queues_.size(); ++q) {
    if (queues_[q].taken_count < queues_[q].positions.size()) return false;
    if (queues_[q].pending_count > 0) return false;
  }
  return true;
}

size_t QueueMachine::hold_count() const {
  size_t count = 0;
  for (const Thing& thing : things_) count += thing.held_by.size();
  return count;
}

bool QueueMachine::has_come_to(const SyncStep& wait) const {
  const StatementId id = wait.statement;
  const QueueIndex index = program_.statements[id.index].queue;
  if (index == kNoQueue) {
    const auto here = std::ranges::find(text_, id) - text_.begin();
    return host_next_ >= static_cast<uint32_t>(here);
  }
  const QueueState& queue = queues_[index];
  const auto taken = std::span(queue.positions).first(queue.taken_count);
  const auto here = std::ranges::find(taken, id, [&](uint32_t at) { return text_[at]; });
  if (here == taken.end()) return false;
  const std::span<const uint32_t> earlier = taken.first(static_cast<size_t>(here - taken.begin()));
  const auto holds_all = [&](const Thing& thing) {
    if (thing.kind != ThingKind::kGate || thing.queue != index || thing.is_over || thing.is_joint) {
      return false;
    }
    const Statement& statement = program_.statements[thing.statement.index];
    const bool is_wait = statement.kind == StatementKind::kSync &&
                         program_.syncs[statement.index].kind == SyncKind::kWait;
    return is_wait && (thing.holds_back.stages & kDeviceStages) == kDeviceStages;
  };
  return std::ranges::none_of(things_, [&](const Thing& thing) {
    return holds_all(thing) && std::ranges::find(earlier, thing.statement, [&](uint32_t at) {
                                 return text_[at];
                               }) != earlier.end();
  });
}

void QueueMachine::run(OperationPart part) {
  INTERLOCK_CHECK(may_run(part));
  enabled_.erase(part);
  early_.erase(part);
  end(ticket_of(part));
  if (part.stage == Stage::kHost && part.role == PartRole::kRun) ++host_next_;
  settle();
}

void QueueMachine::settle() {
  bool goes_on = true;
  while (goes_on) {
    goes_on = false;
    while (!free_.empty()) {
      const Ticket ticket = free_.back();
      free_.pop_back();
      end(ticket);
    }
    while (!is_halted() && step_host()) goes_on = true;
    for (size_t q = 0; q < queues_.size(); ++q) {
      while (!is_halted() && step_front_end(static_cast<QueueIndex>(q))) goes_on = true;
    }
  }
}

bool QueueMachine::is_halted() const {
  return step_count_ > options_.step_limit || is_stopped_at(step_count_);
}

// The host's next statement of the text; what is of a queue it records, or hands over.
bool QueueMachine::step_host() {
  if (host_next_ == program_.statements.size()) return false;
  const Statement& statement = statement_at(host_next_);
  if (statement.queue == kNoQueue) {
    if (statement.kind == StatementKind::kDispatch) {
      // The host goes on once it has run.
      arrive_at(DispatchId(size_t{statement.index}));
      return false;
    }
    if (statement.kind == StatementKind::kSync) {
      const SyncStep& step = program_.syncs[statement.index];
      if (!can_pass(step) || !drop_at(text_[host_next_])) return false;
      if (follows() && step.kind == SyncKind::kHostWaits) {
        host_known_.add(known_of_wait(step));
      }
      if (follows() && step.kind == SyncKind::kHostIdle) {
        host_known_.add(known_of_idle(step.idle_queue));
      }
      if (options_.follows_host_domain) known_at_[text_[host_next_]] = host_known_;
      for (uint32_t k = 0; step.kind == SyncKind::kHostSignals && k < step.count; ++k) {
        if (step.first + k == options_.withheld) return false;
        const SignalPart& part = program_.signal_parts[step.first + k];
        Known known = host_known_;
        known.host_count = host_next_;
        raise(part.semaphore, part.value, known);
      }
    }
    ++host_next_;
    return true;
  }
  if (!does_anything(program_, statement)) {
    ++host_next_;
    return true;
  }
  if (is_submit(program_, statement) || is_handed_at_end_[host_next_]) submit(statement.queue);
  ++host_next_;
  return true;
}

bool QueueMachine::can_pass(const SyncStep& step) const {
  if (step.kind == SyncKind::kHostWaits) return is_met(step);
  if (step.kind != SyncKind::kHostIdle) return true;
  if (step.idle_queue != kNoQueue) return is_idle(step.idle_queue);
  for (size_t q = 0; q < queues_.size(); ++q) {
    if (!is_idle(static_cast<QueueIndex>(q))) return false;
  }
  return true;
}

bool QueueMachine::is_idle(QueueIndex queue) const {
  const QueueState& state = queues_[queue];
  return state.taken_count == state.submitted_count && state.pending_count == 0;
}

bool QueueMachine::step_front_end(QueueIndex queue) {
  if (!can_take(queue)) return false;
  QueueState& state = queues_[queue];
  const StatementId next = next_of(state);
  if (follows() && is_serial(queue) && !is_transition(next)) pass_implied(queue);
  ++state.taken_count;
  take(queue, next);
  end_implied(queue);
  return true;
}

bool QueueMachine::is_serial(QueueIndex queue) const {
  const QueueKind kind = program_.kind_of(queue);
  return kind != QueueKind::kConcurrent && kind != QueueKind::kGraph;
}

bool QueueMachine::can_take(QueueIndex queue) const {
  const QueueState& state = queues_[queue];
  if (state.taken_count == state.handed_count) return false;
  // A barrier and its transitions are one statement of the text.
  const bool is_held = is_serial(queue) && !is_transition(next_of(state)) &&
                       (state.pending_count > 0 || joined_statement(queue) ||
                        (!cached_.empty() && waits_for_commits(queue)));
  if (is_held) return false;
  const Statement& statement = program_.statements[next_of(state).index];
  if (options_.front_ends == FrontEnds::kRunAhead || statement.kind != StatementKind::kSync)
    return true;
  const SyncStep& step = program_.syncs[statement.index];
  return step.kind != SyncKind::kWait || is_met(step);
}

// The first statement of a queue of the other side that is not over, and stands before the next one
// of this queue in the text.
std::optional<StatementId> QueueMachine::joined_statement(QueueIndex queue) const {
  const uint32_t next = queues_[queue].positions[queues_[queue].taken_count];
  const QueueKind kind = program_.kind_of(queue);
  if (kind == QueueKind::kSerial) return std::nullopt;
  const QueueKind others =
      kind == QueueKind::kLegacyDefault ? QueueKind::kSerialBlocking : QueueKind::kLegacyDefault;
  for (size_t q = 0; q < queues_.size(); ++q) {
    if (program_.kind_of(static_cast<QueueIndex>(q)) != others) continue;
    const QueueState& other = queues_[q];
    size_t over_count = other.taken_count;
    if (other.pending_count > 0) {
      // A serial queue has one at a time.
      --over_count;
      while (is_transition(text_[other.positions[over_count]])) --over_count;
    }
    if (over_count == other.positions.size()) continue;
    if (other.positions[over_count] < next) return text_[other.positions[over_count]];
  }
  return std::nullopt;
}

void QueueMachine::take(QueueIndex queue, StatementId id) {
  const Statement& statement = program_.statements[id.index];
  // A transition is not held by the gates of its own barrier.
  if (!is_transition(id)) join_gates(queue);
  switch (statement.kind) {
    case StatementKind::kDispatch: {
      const DispatchId dispatch(size_t{statement.index});
      if (program_.dispatch(dispatch).is_transition()) {
        take_transition(queue, id, dispatch);
      } else {
        take_dispatch(queue, dispatch);
      }
      break;
    }
    case StatementKind::kBarrier:
      take_barrier(queue, id, program_.barriers[statement.index]);
      break;
    case StatementKind::kLifetime:
      break;
    case StatementKind::kSync:
      take_sync(queue, id, program_.syncs[statement.index]);
      break;
  }
}

}  // namespace interlock
