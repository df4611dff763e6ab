// The basic idea is that a range maximum over earlier conflicting accesses is all that a level
// needs, and levels only grow where they matter: a tree of what was written, for readers, and a
// tree of every access, for writers.
#include "simulator/hazards/conflict_levels.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/bytes/access_history.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/order/happens_before.h"

namespace interlock {

ConflictLevels::ConflictLevels(const Program& program, const ByteSegments& segments)
    : program_(program), segments_(segments) {
  AccessHistory history(program, segments);
  level_.reserve(program.dispatches.size());
  for (size_t i = 0; i < program.dispatches.size() && !is_stopped(); ++i) {
    const DispatchId id(i);
    history.prefetch_ahead(id);
    const Stamp level = history.latest(id).any() + 1;
    history.record(id, level);
    level_.push_back(level);
    highest_ = std::max(highest_, level);
  }
}

std::vector<DispatchId> ConflictLevels::chain() const {
  std::vector<DispatchId> chain;
  if (level_.empty()) return chain;
  const auto last = std::ranges::find(level_, highest_);
  chain.emplace_back(static_cast<size_t>(last - level_.begin()));
  const HappensBefore order(program_);
  HazardBetween between(program_, order, segments_);
  while (level_[chain.back().index] > 1) {
    const uint32_t level = level_[chain.back().index];
    between.set_second(chain.back());
    size_t first = chain.back().index;
    do {
      if (is_stopped()) return {};
      INTERLOCK_CHECK(first > 0);
      --first;
    } while (level_[first] + 1 != level || !between.do_conflict(DispatchId(first)));
    chain.emplace_back(first);
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace interlock
