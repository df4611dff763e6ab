#include "simulator/report/joint_advice.h"

#include <vector>

#include "simulator/barriers/closing_sync.h"

namespace interlock {
namespace {

// By barrier: whether it is one of these, or among these pieces.
std::vector<bool> find_barriers(const Program& program,
                                const std::vector<RedundantBarrier>& barriers,
                                const std::vector<SyncPiece>& pieces) {
  std::vector<bool> is_there(program.barriers.size());
  for (const RedundantBarrier& barrier : barriers) is_there[barrier.barrier.index] = true;
  for (const SyncPiece& piece : pieces) {
    if (piece.kind != SyncPieceKind::kBarrier) continue;
    is_there[program.statements[piece.statement.index].index] = true;
  }
  return is_there;
}

}  // namespace

JointRemoval find_joint_advice(const Program& program, const CheckReport& report,
                               const JointAdviceOptions& options) {
  const std::vector<bool> can_go = find_barriers(program, report.redundant, report.redundant_sync);
  const std::vector<bool> is_closing = find_barriers(program, report.closing, report.closing_sync);
  const bool is_open = report.unjudged_barrier_count > 0 || report.unjudged_sync_count > 0;
  const ClosingSync closing(program);
  JointBarriers barriers;
  for (size_t i = 0; i < program.barriers.size(); ++i) {
    const Barrier& barrier = program.barriers[i];
    if (options.is_meant != nullptr && !options.is_meant(program, barrier)) continue;
    const bool is_removable = can_go[i] || is_open;  // Or nobody knows.
    if (is_closing[i] || (is_removable && closing.has(barrier.statement))) continue;
    const BarrierId id(i);
    barriers.barriers.push_back(id);
    const bool stays = does_more_than_order(program, barrier);
    if (!stays && options.keeps_for_host && names_host(program, barrier)) continue;
    (is_removable && !stays ? barriers.removable : barriers.needed).push_back(id);
  }
  return find_joint_removal(program, barriers, options.work_limit);
}

}  // namespace interlock
