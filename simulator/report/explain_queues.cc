// The basic idea: what separates two places is one of few things. On one queue it is a barrier, in
// a graph an edge; between two queues a signal and a wait; from the host to a queue a submission;
// from a queue to the host a scope of the host, a signal, and a wait for it. What is there already
// is named: the first signal that covers the earlier access needs only a wait.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/range.h"
#include "encoder/program/statement_number.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/order/dependency_ends.h"
#include "simulator/report/explain.h"
#include "simulator/report/hazard_end.h"
#include "simulator/report/host_moves_near.h"
#include "simulator/report/operand_text.h"

namespace interlock {
namespace {

// "compute on q1", "the host".
std::string text_of_place(const HazardEnd& end, const Program& program) {
  if (end.is_of_host()) return "the host";
  return fmt::format("{} on {}", text_of(end.stage), program.name_of(end.queue));
}

class QueueMisses {
 public:
  QueueMisses(const Program& program, const Hazard& hazard, const HazardExtent& extent)
      : program_(program),
        hazard_(hazard),
        extent_(extent),
        first_(program, hazard.first, hazard.second),
        second_(program, hazard.second, hazard.first),
        memory_(program.memory(first_.access.memory)),
        moves_(program, hazard, first_, second_),
        is_war_(hazard.kind == FindingKind::kWriteAfterRead) {}

  MissingDependency explain() const { return {reason(), fix()}; }

 private:
  std::string reason() const;
  std::string reason_for_visibility() const;
  std::string fix() const;
  std::string fix_before_host() const;
  std::string fix_after_host() const;
  std::string fix_across_queues() const;
  std::string fix_in_graph() const;
  std::string fix_of_transition() const;
  std::string barrier() const;
  std::string moved_bytes() const;
  StageAccess seen_as() const {
    return hazard_.kind == FindingKind::kReadAfterWrite
               ? *read_sort_of(stage_of(second_.dispatch), second_.access)
               : *write_sort_of(stage_of(second_.dispatch), second_.access);
  }
  StageAccess written_as() const {
    return *write_sort_of(stage_of(first_.dispatch), first_.access);
  }
  // Barriers are errors on a graph queue.
  bool is_in_graph(const HazardEnd& end) const {
    return !end.is_of_host() && program_.kind_of(end.queue) == QueueKind::kGraph;
  }
  bool is_moved(SyncKind kind) const { return moves_.first_between(kind).has_value(); }
  bool names_host_between() const;
  bool is_lost() const;
  bool waits_for_idle() const;
  std::optional<SignalPart> signal_after_first() const;

  const Program& program_;
  const Hazard& hazard_;
  const HazardExtent& extent_;
  const HazardEnd first_;
  const HazardEnd second_;
  const Memory& memory_;
  const HostMovesNear moves_;
  bool is_war_;
};

std::string QueueMisses::reason() const {
  if (hazard_.is_ordered) return reason_for_visibility();
  if (second_.is_of_host()) {
    return fmt::format("Nothing orders them: the host waits for nothing that comes after {}.",
                       first_.name);
  }
  if (first_.is_of_host()) {
    return fmt::format(
        "Nothing orders them: {} is submitted before {}, and waits for no signal of the host.",
        second_.name, first_.name);
  }
  if (first_.queue == second_.queue && is_in_graph(first_)) {
    return fmt::format("Nothing orders them: no chain of edges leads from {} to {}.", first_.name,
                       second_.name);
  }
  if (first_.queue == second_.queue) {
    return fmt::format("Nothing orders them: no chain of dependencies leads from {} to {} on {}.",
                       text_of(first_.stage), text_of(second_.stage),
                       program_.name_of(first_.queue));
  }
  return fmt::format("Nothing orders them: no chain of signals and waits leads from {} to {}.",
                     text_of_place(first_, program_), text_of_place(second_, program_));
}

std::string QueueMisses::reason_for_visibility() const {
  const std::string what =
      fmt::format("They are ordered, but what {} writes is not visible to {} of {}: ", first_.name,
                  text_of(seen_as()), second_.name);
  const bool is_incoherent = memory_.atom_bytes > 0;
  if (is_lost()) {
    return what +
           fmt::format(
               "{} is not coherent, and the host invalidates these bytes before it flushes them.",
               program_.name(memory_.name));
  }
  if (first_.is_of_host() && is_incoherent && !is_moved(SyncKind::kHostFlushes) &&
      !is_moved(SyncKind::kHostInvalidates)) {
    return what + moves_.text_without(SyncKind::kHostFlushes);
  }
  if (first_.is_of_host()) {
    return what +
           "a signal of the host orders execution alone, and no dependency after the wait has host.write in its source.";
  }
  if (second_.is_of_host() && is_incoherent && !is_moved(SyncKind::kHostInvalidates)) {
    return what + moves_.text_without(SyncKind::kHostInvalidates);
  }
  if (second_.is_of_host()) {
    if (is_incoherent && names_host_between()) {
      return what +
             "the host does not invalidate these bytes after a wait for what takes them to host.read or host.write.";
    }
    return what +
           fmt::format(
               "{} makes nothing visible to the host, and no dependency before it {} host.read or host.write in its destination.",
               waits_for_idle() ? "`host idle`" : "a signal",
               names_host_between() ? "that covers what is written has" : "has");
  }
  if (first_.queue == second_.queue && is_in_graph(first_)) {
    return what + "a programmatic edge orders execution alone.";
  }
  return what + fmt::format("no chain of dependencies of memory leads from {} to {}.",
                            text_of(written_as()), text_of(seen_as()));
}

// Some barrier or event between the two names the host's accesses in a destination, whatever else.
bool QueueMisses::names_host_between() const {
  const uint32_t begin = first_.dispatch.statement.index;
  const uint32_t end = std::min(second_.dispatch.statement.index, begin + kStatementsNearMax);
  const auto names_host = [&](BarrierKind kind, std::span<const Dependency> dependencies) {
    return kind == BarrierKind::kFull ||
           std::ranges::any_of(dependencies, [](const Dependency& dependency) {
             return (dependency.destination.accesses & kHostAccesses) != 0;
           });
  };
  for (uint32_t i = begin; i < end; ++i) {
    const Statement& statement = program_.statements[i];
    if (statement.kind == StatementKind::kBarrier) {
      const Barrier& barrier = program_.barriers[statement.index];
      if (names_host(barrier.kind, program_.dependencies_of(barrier))) return true;
    }
    if (statement.kind != StatementKind::kSync) continue;
    const SyncStep& step = program_.syncs[statement.index];
    const bool is_set = step.kind == SyncKind::kSet;
    if (is_set && names_host(step.barrier_kind, program_.dependencies_of(step))) return true;
  }
  return false;
}

// The host dropped what its cache held before it flushed, and the second one looks at it.
bool QueueMisses::is_lost() const {
  const bool looks = hazard_.kind == FindingKind::kReadAfterWrite || second_.dispatch.is_partial;
  if (!first_.is_of_host() || memory_.atom_bytes == 0 || is_war_ || !looks) return false;
  if (!share_a_byte(first_.access.range, hazard_.overlap)) return false;
  const std::optional<uint32_t> flush = moves_.first_between(SyncKind::kHostFlushes);
  const std::optional<uint32_t> invalidation = moves_.first_between(SyncKind::kHostInvalidates);
  return invalidation && (!flush || *invalidation < *flush);
}

// The host comes after the first one by a `host idle`, so that there is no signal to name.
bool QueueMisses::waits_for_idle() const {
  const uint32_t second = second_.dispatch.statement.index;
  const uint32_t begin =
      std::max(first_.dispatch.statement.index, second - std::min(second, kStatementsNearMax));
  for (uint32_t i = second; i-- > begin;) {
    const Statement& statement = program_.statements[i];
    if (statement.kind != StatementKind::kSync) continue;
    const SyncKind kind = program_.syncs[statement.index].kind;
    if (kind == SyncKind::kHostWaits || kind == SyncKind::kHostIdle) {
      return kind == SyncKind::kHostIdle;
    }
  }
  return false;
}

// The first one of its queue that covers it, and runs before the second one.
std::optional<SignalPart> QueueMisses::signal_after_first() const {
  const uint32_t begin = first_.dispatch.statement.index;
  const uint32_t end = std::min(second_.dispatch.statement.index, begin + kStatementsNearMax);
  for (uint32_t i = begin; i < end; ++i) {
    const Statement& statement = program_.statements[i];
    if (statement.kind != StatementKind::kSync || statement.queue != first_.queue) continue;
    const SyncStep& step = program_.syncs[statement.index];
    for (const SignalPart& part : program_.parts_of(step)) {
      // A binary one is waited for once.
      const bool is_free =
          !program_.semaphores[part.semaphore.index].is_binary && !step.is_of_launch;
      const bool covers = (part.stages & bit_of(stage_of(first_.dispatch))) != 0;
      if (is_free && covers) return part;
    }
  }
  return std::nullopt;
}

std::string QueueMisses::fix() const {
  if (first_.is_of_host() && second_.is_of_host()) {  // Lost: the host is in order.
    return fmt::format("`host flushes {}` right after {}.", moved_bytes(), first_.name);
  }
  if (second_.is_of_host()) return fix_before_host();
  if (first_.is_of_host()) return fix_after_host();
  if (first_.queue != second_.queue) return fix_across_queues();
  if (is_in_graph(first_)) return fix_in_graph();
  if (first_.is_transition() || second_.is_transition()) return fix_of_transition();
  return fmt::format("`{} on {}` between {} and {}.", barrier(), program_.name_of(first_.queue),
                     first_.name, second_.name);
}

// No scope names what a barrier does to its operands: that barrier itself names the other one.
std::string QueueMisses::fix_of_transition() const {
  if (second_.is_transition()) {
    const StatementId barrier = second_.barrier(program_);
    const std::string scope = is_war_ ? text_of(first_.stage) : text_of(written_as());
    return fmt::format("let {} name {} in its source.", quoted_text_of(program_, barrier), scope);
  }
  const StatementId barrier = first_.barrier(program_);
  const std::string scope = is_war_ ? text_of(second_.stage) : text_of(seen_as());
  return fmt::format("let {} name {} in its destination.", quoted_text_of(program_, barrier),
                     scope);
}

std::string QueueMisses::barrier() const {
  return barrier_text_of(program_, hazard_.kind, extent_);
}

// What the host flushes or invalidates.
std::string QueueMisses::moved_bytes() const {
  const std::vector<Access> moved = bytes_in_atoms(program_, extent_.bytes);
  return moved.empty() ? text_of_bytes(program_, first_.access.memory, hazard_.overlap)
                       : text_of_operands(program_, moved);
}

std::string QueueMisses::fix_across_queues() const {
  const std::string_view to = program_.name_of(second_.queue);
  if (const auto part = signal_after_first()) {
    return fmt::format("`wait {} on {}` before {}.", text_of_part(program_, *part), to,
                       second_.name);
  }
  return fmt::format("a signal on {} after {}, and a wait for it on {} before {}.",
                     program_.name_of(first_.queue), first_.name, to, second_.name);
}

std::string QueueMisses::fix_in_graph() const {
  return fmt::format("{}`after {}`{} on {}.",
                     hazard_.is_ordered ? "" : "an edge: ", program_.reference_of(first_.id),
                     hazard_.is_ordered ? " without `programmatic`" : "", second_.name);
}

std::string QueueMisses::fix_before_host() const {
  const std::optional<SignalPart> part = signal_after_first();
  const std::string signal =
      part ? fmt::format("signal {}", text_of_part(program_, *part)) : "a signal";
  const std::string wait =
      part ? fmt::format("`host waits {}` before {}", text_of_part(program_, *part), second_.name)
           : fmt::format("a signal on {} after {} that the host waits for",
                         program_.name_of(first_.queue), first_.name);
  if (is_war_ || (memory_.is_unified && !hazard_.is_ordered)) return wait + ".";
  if (is_in_graph(first_)) {
    return fmt::format(
        "on a queue that is no graph: a wait for {}, `{}`, a signal and a submission; and the host "
        "waits for that signal before {}.",
        first_.name, barrier(), second_.name);
  }
  if (memory_.atom_bytes > 0 && hazard_.is_ordered && !is_moved(SyncKind::kHostInvalidates)) {
    return fmt::format(
        "`host invalidates {}` right before {}, and `{} on {}` after {} and before {}.",
        moved_bytes(), second_.name, barrier(), program_.name_of(first_.queue), first_.name,
        what_host_waits_for(waits_for_idle()));
  }
  if (hazard_.is_ordered) {
    return fmt::format("`{} on {}` after {} and before {}.", barrier(),
                       program_.name_of(first_.queue), first_.name,
                       what_host_waits_for(waits_for_idle()));
  }
  return fmt::format("`{} on {}` after {} and before {}, and {}.", barrier(),
                     program_.name_of(first_.queue), first_.name, signal, wait);
}

std::string QueueMisses::fix_after_host() const {
  if (!is_war_ && memory_.atom_bytes > 0 && hazard_.is_ordered &&
      (is_lost() || !is_moved(SyncKind::kHostFlushes))) {
    return fmt::format("`host flushes {}` right after {}, before {} can run.", moved_bytes(),
                       first_.name, second_.name);
  }
  return fmt::format("submit {} after {}.", second_.name, first_.name);
}

}  // namespace

MissingDependency explain_missing_across(const Program& program, const Hazard& hazard,
                                         const HazardExtent& extent) {
  return QueueMisses(program, hazard, extent).explain();
}

bool executes_after(const Program& program, AccessRef access, LifetimeId at) {
  return program.lifetimes[at.index].statement < program.dispatch(access.dispatch).statement;
}

std::string order_before(const Program& program, AccessRef access, LifetimeId at) {
  const QueueIndex from =
      program.launching_queue_of(program.queue_of(program.dispatch(access.dispatch)));
  const Lifetime& lifetime = program.lifetimes[at.index];
  const QueueIndex to = program.statements[lifetime.statement.index].queue;
  const std::string user = program.description_of(access.dispatch);
  const std::string end = fmt::format("'{}'", program.text_of(lifetime));
  if (executes_after(program, access, at))
    return fmt::format("put {} after a wait for {}.", end, user);
  if (from == to) {
    return fmt::format("a barrier on {} between {} and {}.", program.name_of(to), user, end);
  }
  if (from == kNoQueue) return fmt::format("submit {} after {}.", end, user);
  if (to == kNoQueue) {
    return fmt::format("a signal on {} after {} that the host waits for before {}.",
                       program.name_of(from), user, end);
  }
  return fmt::format("a signal on {} after {}, and a wait for it on {} before {}.",
                     program.name_of(from), user, program.name_of(to), end);
}

Finding explain_deadlock(const Program& program, const Deadlock& deadlock) {
  Finding finding{place_of(program, deadlock)};
  finding.cycle = deadlock.cycle;
  const size_t count = finding.waiting.size();
  finding.headline = count == 1
                         ? fmt::format("deadlock: {} waits for what cannot come before it.",
                                       quoted_text_of(program, finding.waiting.front()))
                         : fmt::format("deadlock: {} statements wait for each other.", count);
  for (const BlockedStatement& blocked : deadlock.cycle) {
    const std::string waits_for = quoted_text_of(program, blocked.waits_for);
    const std::string statement = quoted_text_of(program, blocked.statement);
    finding.details.push_back(
        blocked.is_a_wait ? fmt::format("{} waits for {}.", statement, waits_for)
                          : fmt::format("{} is submitted after {}, which the host has not reached.",
                                        statement, waits_for));
  }
  finding.fix = "let what is waited for come before the wait of its own queue, or of the host.";
  return finding;
}

}  // namespace interlock
