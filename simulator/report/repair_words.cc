// Of RepairSearch, one word more: a stage, an access or an operand that sync between the two does
// not name.
#include <fmt/format.h>

#include <algorithm>

#include "simulator/order/signal_statements.h"
#include "simulator/report/repair_search.h"

namespace interlock {
namespace {

// Whether signals and waits have a word for its stage: of transitions and of the host they have
// none.
bool can_stand_beside_semaphores(const HazardEnd& end) {
  return !end.is_transition() && end.stage != Stage::kHost;
}

}  // namespace

bool RepairSearch::widen_some() {
  return std::ranges::any_of(between_, [this](StatementId id) { return widen(id); });
}

bool RepairSearch::widen(StatementId id) {
  const Statement& statement = program_.statements[id.index];
  if (statement.kind == StatementKind::kBarrier) {
    const Barrier& barrier = program_.barriers[statement.index];
    return widen(id, barrier.kind, barrier.first_dependency, barrier.dependency_count);
  }
  const SyncStep& step = program_.syncs[statement.index];
  if (step.kind == SyncKind::kSet) return widen(id, step.barrier_kind, step.first, step.count);
  if (step.kind == SyncKind::kWait) return hold_back(id, step);
  if (step.kind != SyncKind::kSignal) return false;
  for (uint32_t part = step.first; part < step.first + step.count; ++part) {
    if (cover(id, part)) return true;
  }
  return false;
}

bool RepairSearch::widen(StatementId id, BarrierKind kind, uint32_t first, uint32_t count) {
  if (kind == BarrierKind::kExecution) {
    SyncEdit edit(program_);
    edit.make_full(id);
    return works(edit,
                 fmt::format("let {} be about memory, too: `{}`.", quoted(id), edit.text_of(id)));
  }
  for (uint32_t i = first; i < first + count; ++i) {
    for (const bool is_source : {false, true}) {
      if (widen(id, i, is_source, is_source ? source_word() : destination_word())) return true;
      // What is only passed on needs the stage, and no access.
      const Scope stage = {is_source ? source_word().stages : destination_word().stages, 0};
      if (!is_war_ && widen(id, i, is_source, stage)) return true;
      if (pass_on(id, i, is_source)) return true;
    }
    const Dependency& dependency = program_.dependencies[i];
    if (dependency.operand_count == 0 || is_war_) continue;
    if (dependency.transition != TransitionKind::kNone) continue;
    SyncEdit edit(program_);
    edit.add_operands(id, i, extent_.bytes);
    if (works(edit, fmt::format("let {} name {}, too: `{}`.", quoted(id),
                                text_of_operands(program_, extent_.bytes), edit.text_of(id)))) {
      return true;
    }
  }
  return false;
}

bool RepairSearch::pass_on(StatementId id, uint32_t dependency, bool is_source) {
  const auto links = [&](StatementId other) {
    const Statement& statement = program_.statements[other.index];
    if (statement.kind != StatementKind::kSync) return false;
    if (statement.queue != program_.statements[id.index].queue) return false;
    const SyncStep& step = program_.syncs[statement.index];
    // Those of all stages are met by any word, and so by one that was tried.
    const auto pass = [&](StageMask stages) {
      return stages != kAllStages && widen(id, dependency, is_source, Scope{stages, 0});
    };
    if (is_source) return step.kind == SyncKind::kWait && pass(step.stages);
    return step.kind == SyncKind::kSignal &&
           std::ranges::any_of(program_.parts_of(step),
                               [&](const SignalPart& part) { return pass(part.stages); });
  };
  return std::ranges::any_of(between_, links);
}

bool RepairSearch::widen(StatementId id, uint32_t dependency, bool is_source, Scope by) {
  const Dependency& is = program_.dependencies[dependency];
  const Scope scope = is_source ? is.source : is.destination;
  if ((by.stages & bit_of(Stage::kTransition)) != 0) return false;  // No word names it.
  if ((by.stages & ~scope.stages) == 0 && (by.accesses & ~scope.accesses) == 0) return false;
  SyncEdit edit(program_);
  edit.widen(id, dependency, is_source, by);
  return works(edit,
               fmt::format("let {} name {} in its {}: `{}`.", quoted(id), interlock::text_of(by),
                           is_source ? "source" : "destination", edit.text_of(id)));
}

bool RepairSearch::hold_back(StatementId id, const SyncStep& step) {
  const Scope second = {destination_word().stages, 0};
  if ((second.stages & ~step.stages) == 0 || !can_stand_beside_semaphores(second_)) return false;
  SyncEdit edit(program_);
  edit.hold_back(id, second.stages);
  return works(edit, fmt::format("let {} hold back {}, too: `{}`.", quoted(id),
                                 interlock::text_of(second), edit.text_of(id)));
}

bool RepairSearch::widen_signal_and_wait() {
  if (!can_stand_beside_semaphores(first_) || !can_stand_beside_semaphores(second_)) return false;
  const Scope first = {source_word().stages, 0};
  const Scope second = {destination_word().stages, 0};
  const auto widens = [&](StatementId id) {
    const Statement& statement = program_.statements[id.index];
    if (statement.kind != StatementKind::kSync) return false;
    const SyncStep& wait = program_.syncs[statement.index];
    if (wait.kind != SyncKind::kWait || wait.partner == SyncStep::kNoPartner) return false;
    if ((second.stages & ~wait.stages) == 0) return false;
    if ((first.stages & ~program_.signal_parts[wait.partner].stages) == 0) return false;
    const StatementId signal = signal_statements_of(program_)[wait.partner];
    if (std::ranges::count(between_, signal) == 0) return false;
    SyncEdit edit(program_);
    edit.cover(signal, wait.partner, first.stages);
    edit.hold_back(id, second.stages);
    return works(edit,
                 fmt::format("let {} cover {}, too: `{}`; and let {} hold back {}, too: `{}`.",
                             quoted(signal), interlock::text_of(first), edit.text_of(signal),
                             quoted(id), interlock::text_of(second), edit.text_of(id)));
  };
  return std::ranges::any_of(between_, widens);
}

bool RepairSearch::cover(StatementId id, uint32_t part) {
  const Scope first = {source_word().stages, 0};
  if ((first.stages & ~program_.signal_parts[part].stages) == 0) return false;
  if (!can_stand_beside_semaphores(first_)) return false;
  SyncEdit edit(program_);
  edit.cover(id, part, first.stages);
  return works(edit, fmt::format("let {} cover {}, too: `{}`.", quoted(id),
                                 interlock::text_of(first), edit.text_of(id)));
}

}  // namespace interlock
