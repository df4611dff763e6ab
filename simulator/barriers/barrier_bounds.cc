// The basic idea is that the greedy choice needs one number about each dispatch: a barrier stands
// before it iff its latest conflict lies in the current epoch. The pair that forced it is the
// certificate: no other barrier of the choice stands between the two.
#include "simulator/barriers/barrier_bounds.h"

#include <algorithm>

#include "simulator/hazards/conflict_levels.h"
#include "simulator/lifetimes/destroy_needs.h"

namespace interlock {

// The destroys before `dispatch`; a barrier for them serves it, too.
void GreedyBarriers::see_destroys(DispatchId dispatch) {
  for (; next_destroy_ < destroys_.size(); ++next_destroy_) {
    const ForcingPair& destroy = destroys_[next_destroy_];
    if (dispatch < destroy.second) return;
    if (destroy.first.index < epoch_begin_) continue;
    forcing_.push_back(destroy);
    epoch_begin_ = destroy.second.index;
  }
}

uint64_t GreedyBarriers::count() {
  see_destroys(DispatchId());
  return forcing_.size();
}

void GreedyBarriers::see(DispatchId dispatch, const LatestConflicts& latest) {
  see_destroys(dispatch);
  if (latest.any() > epoch_begin_) {
    forcing_.push_back({DispatchId(latest.any() - 1), dispatch});
    epoch_begin_ = dispatch.index;
  }
  if (latest.write > memory_epoch_begin_) {
    ++fewest_full_;
    memory_epoch_begin_ = dispatch.index;
  }
}

BarrierBounds GreedyBarriers::bounds(const Program& program, const ByteSegments& segments) && {
  BarrierBounds bounds;
  bounds.fewest_barriers = count();
  bounds.fewest_full_barriers = fewest_full_;
  bounds.forcing = std::move(forcing_);
  const ConflictLevels levels(program, segments);
  bounds.longest_chain = levels.longest_chain();
  // A destroy keeps its place among the dispatches, so that another order may need more than
  // levels.
  const bool is_shorter = bounds.longest_chain < bounds.fewest_barriers;
  if (is_shorter && destroys_.empty()) bounds.chain = levels.chain();
  return bounds;
}

BarrierBounds barrier_bounds(const Program& program) {
  const ByteSegments segments(program);
  GreedyBarriers greedy(find_destroy_needs(program).pairs);
  ConflictObserver* const observers[] = {&greedy};
  scan_conflicts(program, segments, observers);
  return std::move(greedy).bounds(program, segments);
}

uint64_t fewest_barriers(const Program& program, const ByteSegments& segments) {
  GreedyBarriers greedy(find_destroy_needs(program).pairs);
  ConflictObserver* const observers[] = {&greedy};
  scan_conflicts(program, segments, observers);
  return greedy.count();
}

}  // namespace interlock
