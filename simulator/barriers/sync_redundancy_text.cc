// What a piece of sync that can go says to a person: what it is, where it stands, and why.
#include <fmt/format.h>

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/statement_number.h"
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
std::string place_in_queue(const Program& program, StatementId id) {
  const NameId label = program.statements[id.index].label;
  const uint32_t number = text_number_of(program, id);
  return label.is_some() ? fmt::format("{}, statement {}", program.name(label), number)
                         : fmt::format("statement {}", number);
}

// " on q1"; nothing where a program may not even know that it has a queue.
std::string queue_of(const Program& program, StatementId id) {
  const QueueIndex queue = program.statements[id.index].queue;
  const bool has_one = program.queues.size() <= 1 && program.syncs.empty();
  return queue == kNoQueue || has_one ? "" : fmt::format(" on {}", program.name_of(queue));
}

std::string wait_text(const Program& program, const SyncPiece& piece, const SyncStep& step) {
  const std::string use = use_of(program, step.semaphore, step.value);
  const std::string text = fmt::format(
      "the {}wait for {}{} ({})", step.kind == SyncKind::kHostWaits ? "host's " : "", use,
      queue_of(program, piece.statement), place_in_queue(program, piece.statement));
  if (!piece.partner.is_some()) return text;
  return text + fmt::format(" with its signal ({})", place_in_queue(program, piece.partner));
}

std::string event_text(const Program& program, const SyncPiece& piece, const SyncStep& step) {
  const std::string name =
      fmt::format("{}{}", program.name(step.event), queue_of(program, piece.statement));
  if (step.kind == SyncKind::kSet) {
    return fmt::format("the set of {} ({}), which nothing awaits", name,
                       place_in_queue(program, piece.statement));
  }
  const std::string text =
      fmt::format("the await of {} ({})", name, place_in_queue(program, piece.statement));
  if (!piece.partner.is_some()) return text;
  return text + fmt::format(" with its set ({})", place_in_queue(program, piece.partner));
}

std::string sync_text(const Program& program, const SyncPiece& piece, const SyncStep& step) {
  const std::string place = place_in_queue(program, piece.statement);
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

// "the barrier on q0 (statement 3)": what a word is of.
std::string owner_text(const Program& program, const SyncPiece& word) {
  const std::string queue = queue_of(program, word.statement);
  const std::string place = place_in_queue(program, word.statement);
  const Statement& statement = program.statements[word.statement.index];
  if (statement.kind == StatementKind::kBarrier) {
    return fmt::format("the barrier{} ({})", queue, place);
  }
  if (word.part != SyncPiece::kNone) {
    return fmt::format("the signal {}{} ({})",
                       text_of_part(program, program.signal_parts[word.part]), queue, place);
  }
  const SyncStep& step = program.syncs[statement.index];
  if (step.kind == SyncKind::kSet) {
    return fmt::format("the set of {}{} ({})", program.name(step.event), queue, place);
  }
  if (step.kind == SyncKind::kHostFlushes) return fmt::format("the host's flush ({})", place);
  if (step.kind == SyncKind::kHostInvalidates) {
    return fmt::format("the host's invalidation ({})", place);
  }
  return fmt::format("the wait for {}{} ({})", use_of(program, step.semaphore, step.value), queue,
                     place);
}

// "`compute.write`"; of an access that leaves its stage alone "the access of `compute.write`".
std::string cut_text(Scope cut, Scope from) {
  if (cut.stages != 0) return fmt::format("`{}`", text_of(cut));
  StageMask stages = 0;
  AccessMask others = 0;  // Of the same stages.
  for (size_t i = 0; i < kStageAccessCount; ++i) {
    const auto access = static_cast<StageAccess>(i);
    if ((cut.accesses & bit_of(access)) != 0) stages |= bit_of(stage_of(access));
  }
  for (size_t i = 0; i < kStageAccessCount; ++i) {
    const auto access = static_cast<StageAccess>(i);
    const bool is_other = (from.accesses & ~cut.accesses & bit_of(access)) != 0;
    if (is_other && (stages & bit_of(stage_of(access))) != 0) others |= bit_of(access);
  }
  for (const std::string_view group : {"all.read", "all.write", "device.read", "device.write"}) {
    if (cut.accesses == scope_of(group)->accesses) stages = scope_of(group)->stages;
  }
  const std::string word = text_of(Scope{stages, cut.accesses});
  return fmt::format("{}`{}`", others == 0 ? "the access of " : "", word);
}

std::string scope_text(const Program& program, const SyncPiece& word) {
  if (word.dependency == SyncPiece::kNone) {
    const bool is_signal = word.part != SyncPiece::kNone;
    const StageMask stages =
        is_signal ? program.signal_parts[word.part].stages
                  : program.syncs[program.statements[word.statement.index].index].stages;
    return fmt::format("`{}` in `{} {}` of {}", text_of(word.cut), is_signal ? "after" : "before",
                       text_of(Scope{stages, 0}), owner_text(program, word));
  }
  const Dependency& dependency = program.dependencies[word.dependency];
  return fmt::format(
      "{} in the {} of {}",
      cut_text(word.cut, word.is_source ? dependency.source : dependency.destination),
      word.is_source ? "source" : "destination", owner_text(program, word));
}

std::string word_text(const Program& program, const SyncPiece& word) {
  switch (word.kind) {
    case SyncPieceKind::kDependency: {
      const Dependency& dependency = program.dependencies[word.dependency];
      return fmt::format("the dependency `{} -> {}` of {}", text_of(dependency.source),
                         text_of(dependency.destination), owner_text(program, word));
    }
    case SyncPieceKind::kMemory:
      return fmt::format("the memory dependency of {}", owner_text(program, word));
    case SyncPieceKind::kScope:
      return scope_text(program, word);
    case SyncPieceKind::kOperand:
      return fmt::format("the operand {} of {}",
                         program.text_of(program.barrier_operands[word.operand]),
                         owner_text(program, word));
    case SyncPieceKind::kValue: {
      const SyncStep& step = program.syncs[program.statements[word.statement.index].index];
      return fmt::format("the value {} of {}", step.value, wait_text(program, word, step));
    }
    case SyncPieceKind::kQueue:
      return fmt::format("all queues but {} in the host's wait for all queues ({})",
                         program.name_of(word.queue), place_in_queue(program, word.statement));
    case SyncPieceKind::kBarrier:
    case SyncPieceKind::kEvent:
    case SyncPieceKind::kWait:
    case SyncPieceKind::kHostIdle:
    case SyncPieceKind::kHostMove:
    case SyncPieceKind::kEdge:
    case SyncPieceKind::kSignal:
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
  constexpr std::string_view kWords[] = {"barrier", "event",  "wait",       "idle",   "flush",
                                         "edge",    "signal", "dependency", "memory", "scope",
                                         "operand", "queue",  "value"};
  return kWords[static_cast<size_t>(kind)];
}

std::string text_of_part(const Program& program, const SignalPart& part) {
  return use_of(program, part.semaphore, part.value);
}

std::string description_of(const Program& program, const SyncPiece& piece) {
  if (piece.is_word()) return word_text(program, piece);
  const Statement& statement = program.statements[piece.statement.index];
  if (piece.kind == SyncPieceKind::kBarrier) {
    return fmt::format("the barrier{} ({})", queue_of(program, piece.statement),
                       place_in_queue(program, piece.statement));
  }
  if (piece.kind == SyncPieceKind::kEdge) {
    const Edge& edge = program.edges[piece.edge];
    return fmt::format("the edge from {} to {}", program.description_of(edge.from),
                       program.description_of(edge.to));
  }
  return sync_text(program, piece, program.syncs[statement.index]);
}

std::string description_of_sync(const Program& program, StatementId id) {
  const Statement& statement = program.statements[id.index];
  SyncPiece whole{.statement = id};
  if (statement.kind == StatementKind::kSync) {
    const SyncStep& step = program.syncs[statement.index];
    if (step.kind == SyncKind::kSignal && step.count == 1) whole.part = step.first;
    if (step.kind == SyncKind::kSignal && step.count > 1) {
      std::string parts;
      for (uint32_t part = step.first; part < step.first + step.count; ++part) {
        parts += (parts.empty() ? "" : ", ") + text_of_part(program, program.signal_parts[part]);
      }
      return fmt::format("the signals {}{} ({})", parts, queue_of(program, id),
                         place_in_queue(program, id));
    }
  }
  return owner_text(program, whole);
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
