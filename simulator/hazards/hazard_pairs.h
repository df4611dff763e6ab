// HazardPairs: with which earlier dispatches one dispatch has a hazard, all of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/overlap_window.h"
#include "simulator/hazards/queue_hazards.h"
#include "simulator/hazards/scoped_hazards.h"
#include "simulator/order/happens_before.h"

namespace interlock {

class HazardPairs {
 public:
  // Requires: `order` and `segments` were built from `program`; all three outlive this.
  // Cost: O(a log a) for a accesses.
  HazardPairs(const Program& program, const HappensBefore& order, const ByteSegments& segments);

  // Replaces `firsts` by the dispatches before `second` that have a hazard with it, ascending, and
  // takes the overlaps examined from `examination_limit`. Returns false if that is too few: then
  // some may be missing. Every overlap examined is a hazard; a pair with many operands has several.
  // With scoped barriers or queues others are examined and returned too: those that conflict, and
  // share a byte with a hazard of `second`.
  // Requires: `second` is no earlier than in the last call.
  bool find_firsts(DispatchId second, uint64_t& examination_limit, std::vector<DispatchId>& firsts);

 private:
  void slide_windows(DispatchId second);
  void collect(DispatchId second, uint64_t& examination_limit, std::vector<DispatchId>& firsts);
  void collect_by_runs(DispatchId second, uint64_t& examination_limit,
                       std::vector<DispatchId>& firsts);

  const Program& program_;
  const HappensBefore& order_;
  const ByteSegments& segments_;
  std::array<std::unique_ptr<OverlapWindow>, kSortCount> windows_;  // Null: no such access.
  std::unique_ptr<ScopedHazards> scoped_;                           // Null: there are no scopes.
  std::unique_ptr<QueueHazards> queues_;                            // Null: there is one queue.
  std::vector<HazardousRun> runs_;
};

}  // namespace interlock
