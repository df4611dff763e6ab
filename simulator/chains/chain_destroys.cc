#include "simulator/chains/chain_destroys.h"

#include <cstdint>

#include "encoder/kernel/kernel_table.h"
#include "simulator/chains/chain_search.h"
#include "simulator/chains/counter_run.h"

namespace interlock {

std::vector<ChainDestroy> chain_destroys_of(const Program& program) {
  std::vector<uint32_t> position(program.statements.size(), UINT32_MAX);  // In the run.
  const std::vector<StatementId> run = run_by_counters(program);
  for (uint32_t i = 0; i < run.size(); ++i) position[run[i].index] = i;
  const ChainSearch chains(program);
  std::vector<ChainDestroy> pending;
  for (size_t k = 0; k < program.lifetimes.size(); ++k) {
    const Lifetime& lifetime = program.lifetimes[k];
    const StatementId at = lifetime.statement;
    if (lifetime.kind != LifetimeKind::kDestroy || position[at.index] == UINT32_MAX) continue;
    const Tensor& destroyed = program.tensor(lifetime.tensor);
    for (size_t i = 0; i < program.dispatches.size(); ++i) {
      const DispatchId id(i);
      const StatementId statement = program.dispatch(id).statement;
      if (position[statement.index] == UINT32_MAX) continue;
      if (statement > at && position[statement.index] > position[at.index]) continue;
      for (const Access& access : program.accesses_of(id)) {
        if (access.memory != destroyed.memory) continue;
        if (!share_a_byte(access.range, destroyed.range)) continue;
        const Stage stage = stage_of(program.dispatch(id), access);
        if (!chains.is_over_at(id, stage, at)) pending.push_back({LifetimeId(k), id, stage});
      }
    }
  }
  return pending;
}

}  // namespace interlock
