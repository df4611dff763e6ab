#include "simulator/barriers/failing_sync.h"

#include <algorithm>
#include <span>

#include "simulator/order/signal_statements.h"

namespace interlock {

FailingSync::FailingSync(const Program& program, const ReferenceOrder& reference,
                         const OrderFindings& findings)
    : program_(program),
      hazards_(findings.hazards),
      position_(program.statements.size()),
      signal_of_(signal_statements_of(program)) {
  for (uint32_t i = 0; i < reference.statements.size(); ++i) {
    position_[reference.statements[i].index] = i;
  }
  for (const LifetimeFinding& finding : findings.lifetimes) {
    if (!finding.is_pending) continue;
    const StatementId at = program.lifetimes[finding.ended_at.index].statement;
    early_destroys_end_ = std::max(early_destroys_end_, position_[at.index] + 1);
  }
}

bool FailingSync::has(const SyncPiece& piece) const {
  if (position_[piece.statement.index] < early_destroys_end_) return true;
  if (hazards_.empty()) return false;
  if (piece.edge != SyncPiece::kNone) {
    return std::ranges::any_of(
        hazards_, [&](const ByteHazards& hazard) { return has_edge_of(piece, hazard); });
  }
  const std::vector<End> ends = ends_of(piece);
  return std::ranges::any_of(hazards_, [&](const ByteHazards& hazard) {
    return std::ranges::any_of(ends, [&](const End& end) { return is_meant_for(end, hazard); });
  });
}

bool FailingSync::has_edge_of(const SyncPiece& piece, const ByteHazards& hazard) const {
  const Edge& edge = program_.edges[piece.edge];
  if (!piece.is_word()) return is_edge_of(edge, hazard);
  return std::ranges::any_of(program_.edges_to(edge.to),
                             [&](const Edge& other) { return is_edge_of(other, hazard); });
}

bool FailingSync::is_edge_of(const Edge& edge, const ByteHazards& hazard) const {
  const uint32_t from = position(edge.from);
  const uint32_t to = position(edge.to);
  const uint32_t first = position(hazard.first);
  const uint32_t second = position(hazard.second);
  return first <= from && to <= second && (first == from || to == second);
}

bool FailingSync::is_meant_for(const End& end, const ByteHazards& hazard) const {
  const uint32_t at = position_[end.statement.index];
  if (at <= position(hazard.first) || position(hazard.second) <= at) return false;
  const DispatchId id = end.is_source ? hazard.first : hazard.second;
  const QueueIndex queue = program_.queue_of(program_.dispatch(id));
  const Stage stage = end.is_source ? hazard.first_stage : stage_of(hazard.sort);
  const bool is_of_queue = end.place.is_any_queue || end.place.queue == queue;
  return is_of_queue && (end.place.stages & bit_of(stage)) != 0;
}

std::vector<FailingSync::End> FailingSync::ends_of(const SyncPiece& piece) const {
  std::vector<End> ends;
  const Statement& statement = program_.statements[piece.statement.index];
  if (piece.is_word()) append_partners(piece, ends);
  if (piece.part != SyncPiece::kNone && piece.kind != SyncPieceKind::kWait) {
    append_signal(piece.part, piece.statement, ends);
  } else if (statement.kind == StatementKind::kBarrier) {
    const Barrier& barrier = program_.barriers[statement.index];
    append_barrier(barrier.kind, program_.dependencies_of(barrier), piece.statement,
                   piece.statement, ends);
  } else {
    append_sync(program_.syncs[statement.index], ends);
  }
  return ends;
}

// Of a word of a signal or of a set also what waits for it.
void FailingSync::append_partners(const SyncPiece& piece, std::vector<End>& ends) const {
  for (const SyncStep& step : program_.syncs) {
    if (step.partner == SyncStep::kNoPartner) continue;
    const bool is_await = step.kind == SyncKind::kAwait;
    const bool is_of_piece = is_await ? program_.syncs[step.partner].statement == piece.statement
                                      : step.partner == piece.part;
    if (is_of_piece) append_sync(step, ends);
  }
}

void FailingSync::append_signal(uint32_t part, StatementId at, std::vector<End>& ends) const {
  const QueueIndex queue = program_.statements[at.index].queue;
  ends.push_back({true, at, {queue, program_.signal_parts[part].stages}});
}

void FailingSync::append_sync(const SyncStep& step, std::vector<End>& ends) const {
  const StatementId at = step.statement;
  const Place host{kNoQueue, kAllStages};
  switch (step.kind) {
    case SyncKind::kWait:
    case SyncKind::kHostWaits:
      ends.push_back({false, at, {program_.statements[at.index].queue, step.stages}});
      if (step.partner != SyncStep::kNoPartner) {
        append_signal(step.partner, signal_of_[step.partner], ends);
      }
      break;
    case SyncKind::kAwait: {
      const SyncStep& set = program_.syncs[step.partner];
      append_barrier(set.barrier_kind, program_.dependencies_of(set), set.statement, at, ends);
      break;
    }
    case SyncKind::kSet:
      append_barrier(step.barrier_kind, program_.dependencies_of(step), at, at, ends);
      break;
    case SyncKind::kHostIdle:
      ends.push_back({false, at, host});
      ends.push_back({true, at, {step.idle_queue, kAllStages, step.idle_queue == kNoQueue}});
      break;
    case SyncKind::kHostFlushes:
      ends.push_back({true, at, host});
      break;
    case SyncKind::kHostInvalidates:
      ends.push_back({false, at, host});
      ends.push_back({true, at, host});  // It may be what loses the first one.
      break;
    case SyncKind::kSignal:
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
    case SyncKind::kHostSignals:
      break;
  }
}

void FailingSync::append_barrier(BarrierKind kind, std::span<const Dependency> dependencies,
                                 StatementId from, StatementId to, std::vector<End>& ends) const {
  const QueueIndex queue = program_.statements[from.index].queue;
  if (kind != BarrierKind::kScoped) {
    ends.push_back({true, from, {queue, kAllStages}});
    ends.push_back({false, to, {queue, kAllStages}});
  }
  for (const Dependency& part : dependencies) {
    ends.push_back({true, from, {queue, part.source.stages}});
    ends.push_back({false, to, {queue, part.destination.stages}});
  }
}

}  // namespace interlock
