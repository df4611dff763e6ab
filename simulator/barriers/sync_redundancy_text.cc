// What a piece of sync that can go says to a person: what it is, where it stands, and why.
#include <fmt/format.h>

#include <algorithm>

#include "encoder/program/check.h"
#include "simulator/barriers/sync_redundancy.h"

namespace interlock {
namespace {

// "s=3"; of a binary semaphore "s".
std::string use_of(const Program& program, SemaphoreId id, uint64_t value) {
  const Semaphore& semaphore = program.semaphores[id.index];
  const std::string_view name = program.name(semaphore.name);
  return semaphore.is_binary ? std::string(name) : fmt::format("{}={}", name, value);
}

// "go, statement 7"; without a label "statement 7".
std::string place_of(const Program& program, StatementId id) {
  const NameId label = program.statements[id.index].label;
  return label.is_some() ? fmt::format("{}, statement {}", program.name(label), id.index)
                         : fmt::format("statement {}", id.index);
}

std::string queue_of(const Program& program, StatementId id) {
  const QueueIndex queue = program.statements[id.index].queue;
  return queue == kNoQueue ? "" : fmt::format(" on {}", program.name_of(queue));
}

std::string wait_text(const Program& program, const SyncPiece& piece, const SyncStep& step) {
  const std::string use = use_of(program, step.semaphore, step.value);
  const std::string text =
      fmt::format("the {}wait for {}{} ({})", step.kind == SyncKind::kHostWaits ? "host's " : "",
                  use, queue_of(program, piece.statement), place_of(program, piece.statement));
  if (!piece.partner.is_some()) return text;
  return text + fmt::format(" with its signal ({})", place_of(program, piece.partner));
}

std::string event_text(const Program& program, const SyncPiece& piece, const SyncStep& step) {
  const std::string name =
      fmt::format("{}{}", program.name(step.event), queue_of(program, piece.statement));
  if (step.kind == SyncKind::kSet) {
    return fmt::format("the set of {} ({}), which nothing awaits", name,
                       place_of(program, piece.statement));
  }
  const std::string text =
      fmt::format("the await of {} ({})", name, place_of(program, piece.statement));
  if (!piece.partner.is_some()) return text;
  return text + fmt::format(" with its set ({})", place_of(program, piece.partner));
}

std::string sync_text(const Program& program, const SyncPiece& piece, const SyncStep& step) {
  const std::string place = place_of(program, piece.statement);
  switch (step.kind) {
    case SyncKind::kWait:
    case SyncKind::kHostWaits:
      return wait_text(program, piece, step);
    case SyncKind::kSet:
    case SyncKind::kAwait:
      return event_text(program, piece, step);
    case SyncKind::kHostIdle:
      return step.idle_queue == kNoQueue ? fmt::format("the host's wait for all queues ({})", place)
                                         : fmt::format("the host's wait for {} ({})",
                                                       program.name_of(step.idle_queue), place);
    case SyncKind::kHostFlushes:
      return fmt::format("the host's flush of {} ({})",
                         program.text_of(program.operands_of(step).front()), place);
    case SyncKind::kHostInvalidates:
      return fmt::format("the host's invalidation of {} ({})",
                         program.text_of(program.operands_of(step).front()), place);
    case SyncKind::kSignal:
    case SyncKind::kHostSignals: {
      const SignalPart& part = program.signal_parts[piece.part];
      return fmt::format("the {}signal {}{} ({})",
                         step.kind == SyncKind::kHostSignals ? "host's " : "",
                         text_of_part(program, part), queue_of(program, piece.statement), place);
    }
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
      break;
  }
  INTERLOCK_CHECK(false);
}

// Of a wait whose signal stays: it is the only one.
bool is_only_wait(const Program& program, const SyncStep& step) {
  const auto waits_for_it = [&step](const SyncStep& other) {
    const bool is_wait = other.kind == SyncKind::kWait || other.kind == SyncKind::kHostWaits;
    return is_wait && other.partner == step.partner;
  };
  return step.partner != SyncStep::kNoPartner &&
         std::ranges::count_if(program.syncs, waits_for_it) == 1;
}

}  // namespace

std::string_view word_of(SyncPieceKind kind) {
  constexpr std::string_view kWords[] = {"barrier", "event", "wait",  "idle",
                                         "flush",   "edge",  "signal"};
  return kWords[static_cast<size_t>(kind)];
}

std::string text_of_part(const Program& program, const SignalPart& part) {
  return use_of(program, part.semaphore, part.value);
}

std::string description_of(const Program& program, const SyncPiece& piece) {
  const Statement& statement = program.statements[piece.statement.index];
  if (piece.kind == SyncPieceKind::kBarrier) {
    return fmt::format("the barrier{} ({})", queue_of(program, piece.statement),
                       place_of(program, piece.statement));
  }
  if (piece.kind == SyncPieceKind::kEdge) {
    const Edge& edge = program.edges[piece.edge];
    return fmt::format("the edge from {} to {}", program.description_of(edge.from),
                       program.description_of(edge.to));
  }
  return sync_text(program, piece, program.syncs[statement.index]);
}

std::string reason_of(const Program& program, const SyncPiece& piece) {
  const std::string_view same =
      "Without it every conflict is ordered and visible as it is with it.";
  const Statement& statement = program.statements[piece.statement.index];
  if (piece.kind == SyncPieceKind::kSignal) {
    return fmt::format("No wait is for it. {}", same);
  }
  if (piece.kind != SyncPieceKind::kWait) return std::string(same);
  const SyncStep& step = program.syncs[statement.index];
  if (step.partner == SyncStep::kNoPartner) {
    return fmt::format("The initial value meets it, so it orders nothing. {}", same);
  }
  if (piece.partner.is_some() || !is_only_wait(program, step)) return std::string(same);
  return fmt::format("{} Nothing else waits for its signal, which may then be the next to go.",
                     same);
}

}  // namespace interlock
