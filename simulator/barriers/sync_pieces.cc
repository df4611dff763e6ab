#include "simulator/barriers/sync_pieces.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "simulator/barriers/sync_words.h"
#include "simulator/order/edge_cursor.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"
#include "simulator/order/signal_statements.h"

namespace interlock {
namespace {

// A `host idle` is narrowed to one of so many queues; where more have work, none is tried.
constexpr size_t kIdleQueuesMax = 8;

// The queues that have dispatches, if the host may wait for one of them and not for all.
std::vector<QueueIndex> find_idle_queues(const Program& program) {
  std::vector<bool> has_work(program.queue_count());
  for (const Dispatch& dispatch : program.dispatches) {
    const QueueIndex queue = program.queue_of(dispatch);
    if (queue != kNoQueue) has_work[queue] = true;
  }
  std::vector<QueueIndex> queues;
  for (size_t i = 0; i < has_work.size(); ++i) {
    if (has_work[i]) queues.push_back(static_cast<QueueIndex>(i));
  }
  if (queues.size() < 2 || queues.size() > kIdleQueuesMax) queues.clear();
  return queues;
}

// Who waits for what, counted.
struct PieceUses {
  explicit PieceUses(const Program& program)
      : waits(program.signal_parts.size()),
        awaits(program.syncs.size()),
        signals(signal_statements_of(program)),
        lower(lower_signals_of(program)),
        is_taken_outside(program.signal_parts.size()),
        idle_queues(find_idle_queues(program)) {
    for (const SyncStep& step : program.syncs) {
      if (step.partner == SyncStep::kNoPartner) continue;
      ++(step.kind == SyncKind::kAwait ? awaits : waits)[step.partner];
    }
    const std::vector<bool> is_semaphore_outside = binary_semaphores_taken_outside(program);
    for (size_t i = 0; i < is_taken_outside.size(); ++i) {
      is_taken_outside[i] = is_semaphore_outside[program.signal_parts[i].semaphore.index];
    }
  }

  std::vector<uint32_t> waits;         // By signal part: how many waits are paired with it.
  std::vector<uint32_t> awaits;        // By sync step, a set: how many await it.
  std::vector<StatementId> signals;    // By signal part: the statement that has it.
  std::vector<uint32_t> lower;         // By signal part: see lower_signals_of().
  std::vector<bool> is_taken_outside;  // By signal part: who waits for it is not in the program.
  std::vector<QueueIndex> idle_queues;
};

void append_signals(const PieceUses& uses, const SyncStep& step, std::vector<SyncPiece>& pieces) {
  for (uint32_t part = step.first; part < step.first + step.count; ++part) {
    // Those of a binary semaphore that meet no wait come after all that do.
    if (uses.waits[part] > 0 || uses.is_taken_outside[part]) continue;
    pieces.push_back({.kind = SyncPieceKind::kSignal, .statement = step.statement, .part = part});
  }
}

SyncPiece wait_of(const Program& program, const PieceUses& uses, const SyncStep& step) {
  SyncPiece piece{.kind = SyncPieceKind::kWait, .statement = step.statement};
  const bool is_binary = program.semaphores[step.semaphore.index].is_binary;
  if (!is_binary || step.partner == SyncStep::kNoPartner) return piece;
  piece.partner = uses.signals[step.partner];
  piece.part = step.partner;
  return piece;
}

void append_sync(const Program& program, const PieceUses& uses, const SyncStep& step,
                 std::vector<SyncPiece>& pieces) {
  const auto index = static_cast<size_t>(&step - program.syncs.data());
  const StatementId at = step.statement;
  switch (step.kind) {
    case SyncKind::kSignal:
    case SyncKind::kHostSignals:
      append_signals(uses, step, pieces);
      break;
    case SyncKind::kWait:
    case SyncKind::kHostWaits:
      // What it is for stands outside of the program.
      if (step.is_from_outside) break;
      pieces.push_back(wait_of(program, uses, step));
      if (step.partner == SyncStep::kNoPartner || uses.lower[step.partner] == kNoSignal) break;
      pieces.push_back({.kind = SyncPieceKind::kValue,
                        .statement = step.statement,
                        .lower = uses.lower[step.partner]});
      break;
    case SyncKind::kSet:
      if (uses.awaits[index] == 0) pieces.push_back({SyncPieceKind::kEvent, at, {}});
      break;
    case SyncKind::kAwait: {
      const bool is_only = uses.awaits[step.partner] == 1;
      pieces.push_back({SyncPieceKind::kEvent, at,
                        is_only ? program.syncs[step.partner].statement : StatementId()});
      break;
    }
    case SyncKind::kHostIdle:
      pieces.push_back({SyncPieceKind::kHostIdle, at, {}});
      if (step.idle_queue != kNoQueue) break;
      for (const QueueIndex queue : uses.idle_queues) {
        pieces.push_back({.kind = SyncPieceKind::kQueue, .statement = at, .queue = queue});
      }
      break;
    case SyncKind::kHostFlushes:
    case SyncKind::kHostInvalidates:
      pieces.push_back({SyncPieceKind::kHostMove, at, {}});
      break;
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
      break;
  }
}

bool has_transition(const Program& program, const Barrier& barrier) {
  return std::ranges::any_of(program.dependencies_of(barrier), [](const Dependency& dependency) {
    return dependency.transition != TransitionKind::kNone;
  });
}

void append_edges(const Program& program, EdgeCursor& edges, DispatchId id,
                  std::vector<SyncPiece>& pieces) {
  for (const Edge& edge : edges.to(id)) {
    pieces.push_back({.kind = SyncPieceKind::kEdge,
                      .statement = program.dispatch(id).statement,
                      .partner = program.dispatch(edge.from).statement,
                      .edge = static_cast<uint32_t>(&edge - program.edges.data())});
  }
}

// Edges are sorted by where they lead.
bool is_only_one_to(std::span<const Edge> edges, uint32_t index) {
  const DispatchId to = edges[index].to;
  const bool has_one_before = index > 0 && edges[index - 1].to == to;
  return !has_one_before && (index + 1 == edges.size() || edges[index + 1].to != to);
}

// Says of the outermost words in which piece they are.
void place_words(const Program& program, std::vector<SyncPiece>& pieces) {
  // Where the piece is that takes all of it along.
  std::vector<uint32_t> statements(program.statements.size(), SyncPiece::kNone);
  std::vector<uint32_t> parts(program.signal_parts.size(), SyncPiece::kNone);
  std::vector<uint32_t> edges(program.edges.size(), SyncPiece::kNone);
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    const SyncPiece& piece = pieces[i];
    if (piece.is_word()) continue;
    if (piece.edge != SyncPiece::kNone) {
      edges[piece.edge] = i;
      continue;
    }
    if (piece.part != SyncPiece::kNone) parts[piece.part] = i;
    if (piece.kind == SyncPieceKind::kSignal) continue;
    statements[piece.statement.index] = i;
    const bool has_set = piece.kind == SyncPieceKind::kEvent && piece.partner.is_some();
    if (has_set) statements[piece.partner.index] = i;
  }
  for (SyncPiece& piece : pieces) {
    if (!piece.is_word() || piece.within != SyncPiece::kNone) continue;
    if (piece.part != SyncPiece::kNone) {
      piece.within = parts[piece.part];
    } else if (piece.edge == SyncPiece::kNone) {
      piece.within = statements[piece.statement.index];
    } else if (is_only_one_to(program.edges, piece.edge)) {
      piece.within = edges[piece.edge];
    }
  }
}

bool has_words(std::span<const SyncPiece> pieces) {
  return std::ranges::any_of(pieces, &SyncPiece::is_word);
}

Program with_words_cut(Program program, std::span<const SyncPiece> pieces) {
  cut_words(pieces, program);
  return program;
}

// What of a program goes.
struct LeftOut {
  LeftOut(const Program& program, std::span<const SyncPiece> pieces)
      : statements(program.statements.size()),
        parts(program.signal_parts.size()),
        edges(program.edges.size()) {
    for (const SyncPiece& piece : pieces) {
      if (piece.is_word()) continue;
      if (piece.edge != SyncPiece::kNone) {
        edges[piece.edge] = true;
        continue;
      }
      if (piece.part != SyncPiece::kNone) parts[piece.part] = true;
      if (piece.kind == SyncPieceKind::kSignal) continue;
      statements[piece.statement.index] = true;
      if (piece.kind == SyncPieceKind::kEvent && piece.partner.is_some()) {
        statements[piece.partner.index] = true;
      }
    }
    for (const SyncStep& step : program.syncs) {
      if (step.kind != SyncKind::kSignal && step.kind != SyncKind::kHostSignals) continue;
      bool has_any = false;
      for (uint32_t i = 0; i < step.count; ++i) has_any |= !parts[step.first + i];
      if (!has_any) statements[step.statement.index] = true;
    }
  }

  std::vector<bool> statements;
  std::vector<bool> parts;
  std::vector<bool> edges;
};

void drop_parts(const std::vector<bool>& goes, Program& program) {
  std::vector<uint32_t> to(goes.size() + 1, 0);  // The new index, or that of the next one.
  std::vector<SignalPart> parts;
  for (size_t i = 0; i < goes.size(); ++i) {
    to[i] = static_cast<uint32_t>(parts.size());
    if (!goes[i]) parts.push_back(program.signal_parts[i]);
  }
  to[goes.size()] = static_cast<uint32_t>(parts.size());
  for (SyncStep& step : program.syncs) {
    if (step.kind == SyncKind::kSignal || step.kind == SyncKind::kHostSignals) {
      const uint32_t end = to[step.first + step.count];
      step.first = to[step.first];
      step.count = end - step.first;
    }
    const bool is_wait = step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
    if (is_wait && step.partner != SyncStep::kNoPartner) step.partner = to[step.partner];
  }
  program.signal_parts = std::move(parts);
}

// But for the stages of a signal whose taker is not there to say which it needs.
void append_judged_words(const Program& program, StatementId id, const PieceUses& uses,
                         std::vector<SyncPiece>& pieces) {
  const auto first = std::ssize(pieces);
  append_words(program, id, pieces);
  const auto is_outside = [&uses](const SyncPiece& word) {
    return word.part != SyncPiece::kNone && uses.is_taken_outside[word.part];
  };
  // None of them stands within another one.
  pieces.erase(std::remove_if(pieces.begin() + first, pieces.end(), is_outside), pieces.end());
}

}  // namespace

std::vector<SyncPiece> sync_pieces_of(const Program& program) {
  const PieceUses uses(program);
  EdgeCursor edges(program);
  std::vector<SyncPiece> pieces;
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const Statement& statement = program.statements[i];
    if (statement.kind == StatementKind::kBarrier) {
      if (has_transition(program, program.barriers[statement.index])) {
        append_words(program, StatementId(i), pieces);
        continue;  // What it does to its operands stays.
      }
      pieces.push_back({SyncPieceKind::kBarrier, StatementId(i), {}});
    } else if (statement.kind == StatementKind::kSync) {
      if (program.syncs[statement.index].is_of_launch) continue;  // It goes with the replay.
      append_sync(program, uses, program.syncs[statement.index], pieces);
    } else if (statement.kind == StatementKind::kDispatch) {
      append_edges(program, edges, DispatchId(size_t{statement.index}), pieces);
    }
    append_judged_words(program, StatementId(i), uses, pieces);
  }
  place_words(program, pieces);
  return pieces;
}

Program without_pieces(const Program& program, std::span<const SyncPiece> pieces) {
  const LeftOut left_out(program, pieces);
  ReferenceOrder kept;  // The order of the text: only what is left out matters here.
  for (size_t i = 0; i < program.statements.size(); ++i) {
    if (!left_out.statements[i]) kept.statements.push_back(StatementId(i));
  }
  Program without = has_words(pieces) ? in_reference_order(with_words_cut(program, pieces), kept)
                                      : in_reference_order(program, kept);
  // No dispatch goes, so the edges stand as they did.
  std::vector<Edge> edges;
  for (size_t i = 0; i < without.edges.size(); ++i) {
    if (!left_out.edges[i]) edges.push_back(without.edges[i]);
  }
  without.edges = std::move(edges);
  drop_parts(left_out.parts, without);
  without.witness.clear();
  without.backwards.clear();
  without.text_order = nullptr;
  return without;
}

}  // namespace interlock
