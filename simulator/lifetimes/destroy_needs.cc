#include "simulator/lifetimes/destroy_needs.h"

#include <algorithm>
#include <utility>

#include "simulator/lifetimes/lifetimes.h"
#include "simulator/lifetimes/owner_walk.h"

namespace interlock {
namespace {

class NeedCollector final : public ReadObserver {
 public:
  void see_read(AccessRef, TensorId, MemoryId, const ValueRun&) override {}
  void see_destroyed(const DestroyedAccess& destroyed) override {
    if (destroyed.only_barrier.is_some()) needs.barriers.push_back(destroyed.only_barrier);
    const DispatchId access = destroyed.access.dispatch;
    const bool is_known = !needs.pairs.empty() && needs.pairs.back().destroy == destroyed.done_at;
    if (is_known) {
      needs.pairs.back().first = std::max(needs.pairs.back().first, access);
    } else {
      needs.pairs.push_back({access, DispatchId(destroyed.next_dispatch), destroyed.done_at});
    }
  }

  DestroyNeeds needs;
};

}  // namespace

DestroyNeeds find_destroy_needs(const Program& program) {
  if (!program.has_any(LifetimeKind::kDestroy)) return {};
  NeedCollector collector;
  OwnerWalk walk(program, nullptr, LifetimeOptions().work_limit, collector);
  collector.needs.is_complete = walk.run(false);
  std::vector<BarrierId>& barriers = collector.needs.barriers;
  std::ranges::sort(barriers);
  barriers.erase(std::unique(barriers.begin(), barriers.end()), barriers.end());
  return std::move(collector.needs);
}

}  // namespace interlock
