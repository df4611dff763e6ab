#include "simulator/lifetimes/destroy_needs.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/lifetimes/owner_walk.h"

namespace interlock {
namespace {

class NeedCollector final : public ReadObserver {
 public:
  explicit NeedCollector(const Program& of) : program(of) {}

  void see_read(AccessRef, TensorId, MemoryId, const ValueRun&) override {}
  void see_destroyed(const DestroyedAccess& destroyed) override {
    const DispatchId access = destroyed.access.dispatch;
    if (destroyed.only_barrier.is_some()) {
      ends.emplace_back(destroyed.only_barrier, stage_of(program.dispatch(access)));
    }
    const bool is_known = !needs.pairs.empty() && needs.pairs.back().destroy == destroyed.done_at;
    if (is_known) {
      needs.pairs.back().first = std::max(needs.pairs.back().first, access);
    } else {
      needs.pairs.push_back({access, DispatchId(destroyed.next_dispatch), destroyed.done_at});
    }
  }

  // Moves what has been seen into `needs`.
  void finish() {
    std::ranges::sort(ends);
    for (const auto& [barrier, stage] : ends) {
      if (needs.barriers.empty() || needs.barriers.back() != barrier) {
        needs.barriers.push_back(barrier);
        needs.stages.push_back(0);
      }
      needs.stages.back() |= bit_of(stage);
    }
  }

  const Program& program;
  std::vector<std::pair<BarrierId, Stage>> ends;
  DestroyNeeds needs;
};

}  // namespace

StageMask DestroyNeeds::stages_of(BarrierId barrier) const {
  const auto found = std::ranges::lower_bound(barriers, barrier);
  if (found == barriers.end() || *found != barrier) return 0;
  return stages[static_cast<size_t>(found - barriers.begin())];
}

DestroyNeeds find_destroy_needs(const Program& program) {
  if (!program.has_any(LifetimeKind::kDestroy)) return {};
  NeedCollector collector(program);
  OwnerWalk walk(program, nullptr, LifetimeOptions().work_limit, collector);
  collector.needs.is_complete = walk.run(false);
  collector.finish();
  return std::move(collector.needs);
}

}  // namespace interlock
