// The basic idea is that the greedy choice needs one number about each dispatch: a barrier stands
// before it iff its latest conflict lies in the current epoch. The pair that forced it is the
// certificate: no other barrier of the choice stands between the two.
//
// With free reordering a range maximum over earlier conflicting accesses is all that a level needs:
// a history whose stamps are levels.
#include "simulator/barriers/barrier_bounds.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/bytes/access_history.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/lifetimes/destroy_needs.h"

namespace interlock {
namespace {

// The level of a dispatch is 1 where it conflicts with nothing earlier, else one more than the
// highest level that it conflicts with. Dispatches of one level can run between two barriers, in
// any program order that keeps conflicts in order: levels minus 1 is the fewest barriers then.
// Adds the levels that are missing. Cost: O(a log a) for a accesses, if any is.
void add_levels(const Program& program, const ByteSegments& segments, std::vector<Stamp>& levels) {
  const size_t known_count = levels.size();
  if (known_count == program.dispatches.size()) return;
  AccessHistory history(program, segments);
  levels.reserve(program.dispatches.size());
  for (size_t i = 0; i < program.dispatches.size() && !is_stopped(); ++i) {
    const DispatchId id(i);
    history.prefetch_ahead(id);
    if (i >= known_count) levels.push_back(history.latest(id).any + 1);
    history.record(id, levels[i]);
  }
}

// The longest chain of conflicts, in issue order. Requires: there are levels.
// Cost: O(n) comparisons, and those of operands where two levels follow each other
// (have_conflict()).
std::vector<DispatchId> longest_chain(const Program& program, const ByteSegments& segments,
                                      const std::vector<Stamp>& levels) {
  const auto last = std::ranges::max_element(levels);
  std::vector<DispatchId> chain = {DispatchId(static_cast<size_t>(last - levels.begin()))};
  while (levels[chain.back().index] > 1) {
    const DispatchId second = chain.back();
    size_t first = second.index;
    do {
      if (is_stopped()) return {};
      INTERLOCK_CHECK(first > 0);
      --first;
    } while (levels[first] + 1 != levels[second.index] ||
             !have_conflict(program, segments, DispatchId(first), second));
    chain.emplace_back(first);
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace

GreedyBarriers::GreedyBarriers(std::vector<ForcingPair> destroys) : destroys_(std::move(destroys)) {
  constexpr size_t kDispatchesTypical = 32;
  levels_.reserve(kDispatchesTypical);
  forcing_.reserve(kDispatchesTypical);
}

// The destroys before `dispatch`; a barrier for them serves it, too.
[[gnu::noinline]] void GreedyBarriers::see_destroys(DispatchId dispatch) {
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

[[gnu::noinline]] void GreedyBarriers::append_level(Stamp level) { levels_.push_back(level); }

[[gnu::noinline]] void GreedyBarriers::append_forcing(DispatchId first, DispatchId second) {
  forcing_.push_back({first, second});
}

void GreedyBarriers::see(DispatchId dispatch, const ScannedConflicts& latest) {
  if (!destroys_.empty()) see_destroys(dispatch);
  if (latest.level != 0) append_level(latest.level);
  if (latest.any > epoch_begin_) {
    append_forcing(DispatchId(latest.any - 1), dispatch);
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
  std::vector<Stamp> levels = std::move(levels_);
  add_levels(program, segments, levels);
  if (levels.empty()) return bounds;
  bounds.longest_chain = *std::ranges::max_element(levels) - 1;
  // A destroy keeps its place among the dispatches, so that another order may need more than
  // levels.
  const bool is_shorter = bounds.longest_chain < bounds.fewest_barriers;
  if (is_shorter && destroys_.empty()) bounds.chain = longest_chain(program, segments, levels);
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
