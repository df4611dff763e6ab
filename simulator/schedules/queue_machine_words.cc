// Why something does not run, in words.
#include <fmt/format.h>

#include "encoder/program/check.h"
#include "encoder/program/statement_number.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {

// "a (dispatch 0)", "'wait s=1' (go, statement 7)", "a barrier (statement 2)".
std::string QueueMachine::text_of(StatementId id) const {
  const Statement& statement = program_.statements[id.index];
  if (statement.kind == StatementKind::kDispatch) {
    return program_.description_of(DispatchId(size_t{statement.index}));
  }
  const std::string label = statement.label.is_some()
                                ? fmt::format("{}, ", program_.name(statement.label))
                                : std::string();
  std::string text(noun_of(statement.kind));
  if (statement.kind == StatementKind::kSync) {
    const SyncStep& step = program_.syncs[statement.index];
    text = fmt::format("'{}", word_of(step.kind));
    if (step.semaphore.is_some()) {
      const Semaphore& semaphore = program_.semaphores[step.semaphore.index];
      text += fmt::format(" {}", program_.name(semaphore.name));
      if (!semaphore.is_binary) text += fmt::format("={}", step.value);
    }
    if (step.idle_queue != kNoQueue) {
      text += fmt::format(" on {}", program_.name_of(step.idle_queue));
    }
    text += "'";
  }
  return fmt::format("{} ({}statement {})", text, label, text_number_of(program_, id));
}

// "semaphore 's' is at 1, below 2".
std::string QueueMachine::text_of_wait(const SyncStep& step) const {
  const Semaphore& semaphore = program_.semaphores[step.semaphore.index];
  return fmt::format("semaphore '{}' is at {}, below {}", program_.name(semaphore.name),
                     counters_[step.semaphore.index], step.value);
}

std::string QueueMachine::why_held(DispatchId dispatch) const {
  const std::optional<OperationPart> part = next_part(dispatch);
  INTERLOCK_CHECK(part.has_value() && !enabled_.contains(*part));
  const Ticket ticket = ticket_of(*part);
  const Thing& thing = things_[ticket];
  const bool is_held = thing.is_taken && !thing.held_by.empty();
  const std::string reason = thing.queue == kNoQueue
                                 ? (is_held ? why_held(ticket) : why_host_waits())
                             : thing.is_taken ? why_held(ticket)
                                              : why_not_taken(thing.queue, thing.statement);
  return fmt::format("{} may not run: {}.", program_.description_of(dispatch), reason);
}

std::string QueueMachine::why_host_waits() const {
  if (host_next_ == text_.size()) return "the host is done";
  const StatementId id = text_[host_next_];
  const Statement& statement = statement_at(host_next_);
  if (statement.kind == StatementKind::kDispatch) {
    return fmt::format("the host is at {}", text_of(id));
  }
  const SyncStep& step = program_.syncs[statement.index];
  if (step.kind == SyncKind::kHostWaits) {
    return fmt::format("the host is at {}, and {}", text_of(id), text_of_wait(step));
  }
  if (step.kind != SyncKind::kHostIdle) return fmt::format("the host is at {}", text_of(id));
  for (size_t q = 0; q < queues_.size(); ++q) {
    const QueueIndex queue = static_cast<QueueIndex>(q);
    if (step.idle_queue != kNoQueue && step.idle_queue != queue) continue;
    if (is_idle(queue)) continue;
    return fmt::format("the host is at {}, and {} is not idle", text_of(id),
                       program_.name_of(queue));
  }
  return fmt::format("the host is at {}", text_of(id));
}

std::string QueueMachine::why_not_taken(QueueIndex queue, StatementId id) const {
  const QueueState& state = queues_[queue];
  if (state.taken_count == state.handed_count && state.handed_count < state.submitted_count) {
    for (const Ticket commit : cached_) {
      if (is_carried(commit, host_next_)) {
        return fmt::format("its submission takes along {}, which has not committed",
                           text_of(things_[commit].statement));
      }
    }
  }
  if (state.taken_count == state.handed_count) {
    return fmt::format("it is not submitted, and {}", why_host_waits());
  }
  const StatementId next = next_of(state);
  const std::string_view name = program_.name_of(queue);
  const std::string at =
      next == id ? std::string() : fmt::format(" before it is {};", text_of(next));
  if (is_serial(queue) && state.pending_count > 0) {
    const StatementId current = text_[state.positions[state.taken_count - 1]];
    for (Ticket ticket = 0; ticket < things_.size(); ++ticket) {
      const Thing& thing = things_[ticket];
      if (thing.statement != current || thing.is_over || !thing.is_taken) continue;
      if (thing.kind == ThingKind::kPart) break;
      return fmt::format("queue {} is still at {}: {}", name, text_of(current), why_held(ticket));
    }
    return fmt::format("queue {} is still at {}", name, text_of(current));
  }
  if (is_serial(queue)) {
    if (const auto joined = joined_statement(queue)) {
      return fmt::format("queue {} joins others:{} {} is not over", name, at, text_of(*joined));
    }
  }
  if (is_serial(queue) && !cached_.empty()) {
    const uint32_t count = known_by_joins(queue).host_count;
    for (const Ticket commit : cached_) {
      if (!is_carried(commit, count)) continue;
      return fmt::format("queue {} takes along {}, which has not committed", name,
                         text_of(things_[commit].statement));
    }
  }
  const SyncStep& step = program_.syncs[program_.statements[next.index].index];
  return fmt::format("queue {} is at {}, and {}", name, text_of(next), text_of_wait(step));
}

// What holds it, and what that waits for in the end: chains may be long.
std::string QueueMachine::why_held(Ticket ticket) const {
  const Thing* thing = &things_[ticket];
  std::string text;
  while (!thing->waits_for_counter && !thing->held_by.empty()) {
    thing = &things_[*thing->held_by.begin()];
    const bool is_first =
        text.empty() && thing->kind != ThingKind::kPart && !thing->is_joint && !is_of_edge(*thing);
    if (is_first) text = fmt::format("{} holds it, and ", text_of(thing->statement));
  }
  if (!thing->waits_for_counter) {
    const bool is_late = thing->kind == ThingKind::kPart && thing->part.role == PartRole::kCommit;
    return fmt::format("{}{} has not {}", text, text_of(thing->statement),
                       is_late ? "committed" : "run");
  }
  const Statement& wait = program_.statements[thing->statement.index];
  return text + text_of_wait(program_.syncs[wait.index]);
}

}  // namespace interlock
