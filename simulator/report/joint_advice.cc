#include "simulator/report/joint_advice.h"

#include <vector>

#include "simulator/barriers/closing_sync.h"

namespace interlock {
namespace {

// By barrier: it can go by itself, or nobody knows.
std::vector<bool> find_removable(const Program& program, const CheckReport& report) {
  const bool is_open = report.unjudged_barrier_count > 0 || report.unjudged_sync_count > 0;
  std::vector<bool> is_removable(program.barriers.size(), is_open);
  for (const RedundantBarrier& redundant : report.redundant) {
    is_removable[redundant.barrier.index] = true;
  }
  for (const SyncPiece& piece : report.redundant_sync) {
    if (piece.kind != SyncPieceKind::kBarrier) continue;
    is_removable[program.statements[piece.statement.index].index] = true;
  }
  return is_removable;
}

// By barrier: the report says that it is for what comes after the text.
std::vector<bool> find_closing(const Program& program, const CheckReport& report) {
  std::vector<bool> is_closing(program.barriers.size());
  for (const RedundantBarrier& barrier : report.closing) is_closing[barrier.barrier.index] = true;
  for (const SyncPiece& piece : report.closing_sync) {
    if (piece.kind != SyncPieceKind::kBarrier) continue;
    is_closing[program.statements[piece.statement.index].index] = true;
  }
  return is_closing;
}

}  // namespace

JointRemoval find_joint_advice(const Program& program, const CheckReport& report,
                               const JointAdviceOptions& options) {
  const std::vector<bool> is_removable = find_removable(program, report);
  const std::vector<bool> is_closing = find_closing(program, report);
  const ClosingSync closing(program);
  JointBarriers barriers;
  for (size_t i = 0; i < program.barriers.size(); ++i) {
    const Barrier& barrier = program.barriers[i];
    if (options.is_meant != nullptr && !options.is_meant(program, barrier)) continue;
    if (is_closing[i] || (is_removable[i] && closing.has(barrier.statement))) continue;
    const BarrierId id(i);
    barriers.barriers.push_back(id);
    const bool stays = does_more_than_order(program, barrier);
    if (!stays && options.keeps_for_host && names_host(program, barrier)) continue;
    (is_removable[i] && !stays ? barriers.removable : barriers.needed).push_back(id);
  }
  return find_joint_removal(program, barriers, options.work_limit);
}

}  // namespace interlock
