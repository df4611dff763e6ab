#include "simulator/barriers/closing_sync.h"

#include <algorithm>

#include "simulator/order/queue_order.h"

namespace interlock {
namespace {

// A statement after which sync can be needed by the program itself: a dispatch, also the host's;
// and beside a `destroy` any lifetime statement, since a free or an unpin may carry one out.
bool is_done(const Statement& statement, bool has_destroy) {
  return statement.kind == StatementKind::kDispatch ||
         (statement.kind == StatementKind::kLifetime && has_destroy);
}

}  // namespace

ClosingSync::ClosingSync(const Program& program)
    : program_(program), last_(program.queue_count() + 1) {
  const bool has_destroy = program.has_any(LifetimeKind::kDestroy);
  size_t left_count = program.queue_count();
  for (size_t i = program.statements.size(); i > 0 && left_count > 0; --i) {
    const Statement& statement = program.statements[i - 1];
    if (!is_done(statement, has_destroy)) continue;
    const StatementId id(i - 1);
    if (!last_.back().is_some()) last_.back() = id;
    if (statement.queue == kNoQueue || last_[statement.queue].is_some()) continue;
    last_[statement.queue] = id;
    --left_count;
  }
  // Then it makes no difference.
  const bool end_together =
      std::ranges::all_of(last_, [&](StatementId last) { return last == last_.back(); });
  asks_all_ = end_together || !needs_queue_order(program);
}

bool ClosingSync::has(StatementId id) const {
  if (program_.dispatches.empty()) return false;
  const Statement& statement = program_.statements[id.index];
  const bool is_sync =
      statement.kind == StatementKind::kBarrier || statement.kind == StatementKind::kSync;
  const bool asks_all = asks_all_ || statement.queue == kNoQueue;
  const StatementId last = asks_all ? last_.back() : last_[statement.queue];
  return is_sync && (!last.is_some() || last < id);
}

bool ClosingSync::has(const SyncPiece& piece) const {
  const bool is_of_barrier =
      program_.statements[piece.statement.index].kind == StatementKind::kBarrier;
  return (!piece.is_word() || is_of_barrier) && has(piece.statement);
}

uint64_t closing_barrier_count(const Program& program) {
  if (program.dispatches.empty()) return 0;
  const bool has_destroy = program.has_any(LifetimeKind::kDestroy);
  uint64_t count = 0;
  for (size_t i = program.statements.size(); i > 0; --i) {
    const Statement& statement = program.statements[i - 1];
    if (is_done(statement, has_destroy)) break;
    count += statement.kind == StatementKind::kBarrier;
  }
  return count;
}

}  // namespace interlock
