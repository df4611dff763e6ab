// The basic idea is that a range maximum over earlier conflicting accesses is all that a level
// needs, and levels only grow where they matter: a tree of what was written, for readers, and a
// tree of every access, for writers.
#include "simulator/hazards/conflict_levels.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/bytes/access_history.h"
#include "simulator/hazards/conflict_scan.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/order/happens_before.h"

namespace interlock {

ConflictLevels::ConflictLevels(const Program& program, const ByteSegments& segments)
    : program_(program), segments_(segments) {
  AccessHistory history(segments.count());
  level_.reserve(program.dispatches.size());
  for (size_t i = 0; i < program.dispatches.size() && !is_stopped(); ++i) {
    prefetch_ahead(program, segments, DispatchId(i), history);
    const Dispatch& dispatch = program.dispatches[i];
    Stamp level = 0;
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      const Access& access = program.accesses[dispatch.first_access + k];
      const SegmentSpan span = segments.span_of(dispatch.first_access + k);
      level =
          std::max(level, history.latest(span, access, dispatch.atomic_op, AccessSide::kWrites));
      if (has_write_side(access)) {
        level =
            std::max(level, history.latest(span, access, dispatch.atomic_op, AccessSide::kReads));
      }
    }
    ++level;
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      history.record(segments.span_of(dispatch.first_access + k),
                     program.accesses[dispatch.first_access + k], dispatch.atomic_op, level);
    }
    level_.push_back(level);
    highest_ = std::max(highest_, level);
  }
}

std::vector<DispatchId> ConflictLevels::chain() const {
  std::vector<DispatchId> chain;
  if (level_.empty()) return chain;
  const auto last = std::find(level_.begin(), level_.end(), highest_);
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
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace interlock
