// Of RepairSearch, what the host takes part in: its scopes, its cache, and what it submits.
#include <fmt/format.h>

#include <algorithm>

#include "simulator/barriers/sync_pieces.h"
#include "simulator/report/repair_search.h"

namespace interlock {

bool RepairSearch::add_flush_between() {
  SyncEdit edit(program_);
  edit.add_host_move(first_.after(program_), SyncKind::kHostFlushes, in_atoms_);
  return works(edit, fmt::format("`{}` right after {}.", flush_text(), first_.name));
}

bool RepairSearch::add_for_host_write() {
  if (!first_.is_of_host() || is_war_) return false;
  if (!in_atoms_.empty()) {
    SyncEdit edit(program_);
    edit.add_host_move(first_.after(program_), SyncKind::kHostFlushes, in_atoms_);
    const StatementId submission = submission_of_second().value_or(second_.dispatch.statement);
    const bool is_submitted = submission < first_.dispatch.statement;
    const std::string limit = is_submitted ? "the signal that {} comes after" : "{} is submitted";
    if (works(edit, fmt::format("`{}` right after {}, before {}.", flush_text(), first_.name,
                                fmt::format(fmt::runtime(limit), second_.name)))) {
      return true;
    }
  }
  if (is_in_graph(second_)) return false;
  SyncEdit edit(program_);
  add_barrier(edit, second_.before(program_), second_.queue);
  return works(
      edit, fmt::format("`{} on {}` before {}.", barrier_text(), name_of(second_), second_.name));
}

std::string RepairSearch::flush_text() const {
  return fmt::format("host flushes {}", text_of_operands(program_, in_atoms_));
}

std::string RepairSearch::invalidation_text() const {
  return fmt::format("host invalidates {}", text_of_operands(program_, in_atoms_));
}

bool RepairSearch::add_for_host_read() {
  if (is_war_) return false;
  if (!in_atoms_.empty()) {
    SyncEdit edit(program_);
    edit.add_host_move(second_.before(program_), SyncKind::kHostInvalidates, in_atoms_);
    if (works(edit, fmt::format("`{}` right before {}.", invalidation_text(), second_.name))) {
      return true;
    }
  }
  if (is_in_graph(first_)) return false;
  SyncEdit edit(program_);
  add_barrier(edit, first_.after(program_), first_.queue);
  return works(edit,
               fmt::format("`{} on {}` after {} and before {}.", barrier_text(), name_of(first_),
                           first_.name, what_host_waits_for(waits_for_idle())));
}

bool RepairSearch::submit_later() {
  if (!first_.is_of_host() || second_.is_of_host()) return false;
  SyncEdit edit(program_);
  const std::optional<StatementId> submit = submission_of_second();
  if (submit) {
    // It was submitted after the first one already.
    if (*submit > first_.dispatch.statement) return false;
    edit.remove(*submit);
  }
  edit.add_submit(first_.after(program_), second_.queue);
  const std::string fix = fmt::format("submit {} after {}.", second_.name, first_.name);
  if (works(edit, fix)) return true;
  if (is_war_ || in_atoms_.empty()) return false;
  SyncEdit flushed(program_);
  if (submit) flushed.remove(*submit);
  flushed.add_host_move(first_.after(program_), SyncKind::kHostFlushes, in_atoms_);
  flushed.add_submit(first_.after(program_), second_.queue);
  return works(flushed, fmt::format("`{}` right after {}, and submit {} after that.", flush_text(),
                                    first_.name, second_.name));
}

std::optional<StatementId> RepairSearch::submission_of_second() const {
  for (size_t i = second_.dispatch.statement.index; i < program_.statements.size(); ++i) {
    const Statement& statement = program_.statements[i];
    if (statement.kind != StatementKind::kSync || statement.queue != second_.queue) continue;
    if (program_.syncs[statement.index].kind == SyncKind::kSubmit) return StatementId(i);
  }
  return std::nullopt;
}

bool RepairSearch::add_before_host() {
  const std::string signal =
      fmt::format("a signal on {} after {} that the host waits for", name_of(first_), first_.name);
  SyncEdit edit(program_);
  edit.add_wait(second_.before(program_), kNoQueue,
                edit.add_signal(first_.after(program_), first_.queue));
  if (works(edit, signal + ".")) return true;
  if (is_war_) return false;
  if (is_in_graph(first_)) return add_beside_graph();
  const std::string scope =
      fmt::format("`{} on {}` after {} and before ", barrier_text(), name_of(first_), first_.name);
  for (const bool has_invalidation : {false, true}) {
    if (has_invalidation && in_atoms_.empty()) continue;
    const std::string invalidation =
        has_invalidation
            ? fmt::format("`{}` right before {}, and ", invalidation_text(), second_.name)
            : "";
    if (has_invalidation && add_scope_before_host(invalidation + scope, true)) return true;
    for (const StatementId id : between_) {
      if (add_scope_and_wait(invalidation + scope, has_invalidation, id)) return true;
    }
    SyncEdit all(program_);
    add_barrier(all, first_.after(program_), first_.queue);
    all.add_wait(second_.before(program_), kNoQueue,
                 all.add_signal(first_.after(program_), first_.queue));
    if (has_invalidation) {
      all.add_host_move(second_.before(program_), SyncKind::kHostInvalidates, in_atoms_);
    }
    if (works(all, fmt::format("{}{}a signal, and {}.", invalidation, scope, signal))) {
      return true;
    }
  }
  return false;
}

bool RepairSearch::waits_for_idle() const {
  for (const StatementId id : between_) {
    const Statement& statement = program_.statements[id.index];
    if (statement.kind != StatementKind::kSync) continue;
    const SyncKind kind = program_.syncs[statement.index].kind;
    if (kind == SyncKind::kHostWaits || kind == SyncKind::kHostIdle) {
      return kind == SyncKind::kHostIdle;
    }
  }
  return false;
}

bool RepairSearch::add_scope_before_host(const std::string& text, bool has_invalidation) {
  SyncEdit edit(program_);
  add_barrier(edit, first_.after(program_), first_.queue);
  if (has_invalidation) {
    edit.add_host_move(second_.before(program_), SyncKind::kHostInvalidates, in_atoms_);
  }
  return works(edit, fmt::format("{}{}.", text, what_host_waits_for(waits_for_idle())));
}

bool RepairSearch::add_scope_and_wait(const std::string& text, bool has_invalidation,
                                      StatementId id) {
  const Statement& statement = program_.statements[id.index];
  if (statement.kind != StatementKind::kSync) return false;
  const SyncStep& step = program_.syncs[statement.index];
  for (uint32_t i = 0; i < program_.parts_of(step).size(); ++i) {
    const uint32_t part = step.first + i;
    if (!is_free(part)) continue;
    SyncEdit edit(program_);
    add_barrier(edit, first_.after(program_), first_.queue);
    edit.add_wait(second_.before(program_), kNoQueue, part);
    if (has_invalidation) {
      edit.add_host_move(second_.before(program_), SyncKind::kHostInvalidates, in_atoms_);
    }
    if (works(edit,
              fmt::format("{}signal {}, and {}.", text,
                          text_of_part(program_, program_.signal_parts[part]), wait_text(part)))) {
      return true;
    }
  }
  return false;
}

bool RepairSearch::add_beside_graph() {
  const std::string fix = fmt::format(
      "on a queue that is no graph: a wait for {}, `{}`, a signal and a submission; and the host "
      "waits for that signal before {}.",
      first_.name, barrier_text(), second_.name);
  for (const bool has_invalidation : {false, true}) {
    const std::string invalidation =
        has_invalidation
            ? fmt::format("`{}` right before {}, and ", invalidation_text(), second_.name)
            : "";
    for (const bool is_new : {false, true}) {
      SyncEdit edit(program_);
      const uint32_t made = edit.add_signal(first_.after(program_), first_.queue);
      const std::optional<QueueIndex> other = passing_queue(edit, second_.before(program_), is_new);
      if (!other) continue;
      edit.add_wait(second_.before(program_), *other, made);
      add_barrier(edit, second_.before(program_), *other);
      const uint32_t passed = edit.add_signal(second_.before(program_), *other);
      edit.add_submit(second_.before(program_), *other);
      edit.add_wait(second_.before(program_), kNoQueue, passed);
      if (has_invalidation) {
        edit.add_host_move(second_.before(program_), SyncKind::kHostInvalidates, in_atoms_);
      }
      if (works(edit, invalidation + fix)) return true;
    }
  }
  return false;
}

std::optional<QueueIndex> RepairSearch::passing_queue(SyncEdit& edit, SyncEdit::Place place,
                                                      bool is_new) const {
  if (is_new) return edit.add_queue(place);
  for (size_t q = program_.queue_count(); q-- > 0;) {
    const auto queue = static_cast<QueueIndex>(q);
    if (program_.kind_of(queue) != QueueKind::kGraph) return queue;
  }
  return std::nullopt;
}

bool RepairSearch::add_after_host() {
  const std::string signal =
      fmt::format("a signal of the host after {}, and a wait for it on {} before {}", first_.name,
                  name_of(second_), second_.name);
  if (is_war_) {
    SyncEdit edit(program_);
    edit.add_wait(second_.before(program_), second_.queue,
                  edit.add_signal(first_.after(program_), kNoQueue));
    return works(edit, signal + ".");
  }
  const bool is_flushed = !in_atoms_.empty();
  const std::string flush =
      is_flushed ? fmt::format("`{}` right after {}, ", flush_text(), first_.name) : "";
  SyncEdit edit(program_);
  if (is_flushed) edit.add_host_move(first_.after(program_), SyncKind::kHostFlushes, in_atoms_);
  if (is_in_graph(second_)) {
    return add_after_host_to_graph(edit, flush, false) ||
           add_after_host_to_graph(edit, flush, true);
  }
  edit.add_wait(second_.before(program_), second_.queue,
                edit.add_signal(first_.after(program_), kNoQueue));
  add_barrier(edit, second_.before(program_), second_.queue);
  return works(edit, fmt::format("{}{}, with `{}` after the wait.", flush, signal, barrier_text()));
}

bool RepairSearch::add_after_host_to_graph(SyncEdit edit, const std::string& flush, bool is_new) {
  const std::optional<QueueIndex> other = passing_queue(edit, first_.after(program_), is_new);
  if (!other) return false;
  // Submitted right after the write, which it then carries.
  const uint32_t part = edit.add_signal(first_.after(program_), *other);
  edit.add_submit(first_.after(program_), *other);
  edit.add_wait(second_.before(program_), second_.queue, part);
  return works(
      edit, fmt::format("{}on a queue that is no graph: a signal, submitted after {}; and a wait "
                        "for it on {} before {}.",
                        flush, first_.name, name_of(second_), second_.name));
}

}  // namespace interlock
