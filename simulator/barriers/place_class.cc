#include "simulator/barriers/place_class.h"

#include <algorithm>

#include "simulator/order/submissions.h"

namespace interlock {
namespace {

bool has_indirect(const Program& program) {
  return std::ranges::any_of(
      program.accesses, [](const Access& access) { return access.mode == AccessMode::kIndirect; });
}

struct Kinds {
  bool has_graph = false;
  bool has_blocking = false;
  bool has_joining = false;

  bool are_joined() const { return has_blocking && has_joining; }
};

Kinds kinds_of(const Program& program) {
  Kinds kinds;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kLifetime || statement.queue == kNoQueue) continue;
    const QueueKind kind = program.kind_of(statement.queue);
    kinds.has_graph |= kind == QueueKind::kGraph;
    kinds.has_blocking |= kind == QueueKind::kSerialBlocking;
    kinds.has_joining |= kind == QueueKind::kLegacyDefault;
  }
  return kinds;
}

// Of a serial queue that joins no other such statements say nothing.
std::string_view why_not(const Program& program, const Kinds& kinds, const Statement& statement) {
  const QueueKind kind = program.kind_of(statement.queue);
  const bool is_joined = kinds.are_joined() &&
                         (kind == QueueKind::kSerialBlocking || kind == QueueKind::kLegacyDefault);
  if (statement.kind == StatementKind::kBarrier && is_joined) {
    return "a barrier stands on a queue that others join";
  }
  if (statement.kind != StatementKind::kSync) return {};
  const SyncStep& step = program.syncs[statement.index];
  if (step.is_from_outside) return "a wait is for somebody outside the program";
  const bool is_event = step.kind == SyncKind::kSet || step.kind == SyncKind::kAwait;
  if (is_event && (is_joined || kind == QueueKind::kConcurrent)) {
    return "events order what queues execute";
  }
  return {};
}

// It waits, and something is submitted or signaled after that.
bool passes_on_by_host(const Program& program) {
  bool has_waited = false;
  bool has_work = false;
  for (const Statement& statement : program.statements) {
    const bool is_sync = statement.kind == StatementKind::kSync;
    if (!is_of_host(program, statement)) {
      if (statement.kind == StatementKind::kLifetime) continue;
      if (is_sync && program.syncs[statement.index].kind == SyncKind::kSplit) continue;
      if (has_waited) return true;
      has_work = true;
    } else if (is_sync) {
      const SyncKind kind = program.syncs[statement.index].kind;
      if (kind == SyncKind::kHostSignals && has_waited) return true;
      has_waited |= has_work && (kind == SyncKind::kHostWaits || kind == SyncKind::kHostIdle);
    }
  }
  return false;
}

}  // namespace

std::string_view why_not_by_places(const Program& program) {
  if (std::ranges::any_of(program.dispatches, &Dispatch::is_approximate)) {
    return "what some dispatches touch is not known";
  }
  if (std::ranges::any_of(program.dispatches, &Dispatch::is_transition)) {
    return "barriers make transitions";
  }
  if (has_indirect(program)) return "arguments are read in a stage of their own";
  const Kinds kinds = kinds_of(program);
  if (kinds.has_graph)
    return "a graph is launched, is beside other queues, or has edges that are not full";
  for (const Statement& statement : program.statements) {
    if (is_of_host(program, statement)) continue;
    if (const std::string_view why = why_not(program, kinds, statement); !why.empty()) return why;
  }
  if (passes_on_by_host(program)) return "the host goes on after a wait";
  if (program.dispatches.size() > kPlaceDispatchesMax) {
    return "it has more than 1,024 dispatches";
  }
  return {};
}

}  // namespace interlock
