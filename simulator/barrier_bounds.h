// Barrier bounds: how few barriers the conflicts of a program need.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program.h"
#include "simulator/byte_segments.h"
#include "simulator/conflict_scan.h"

namespace interlock {

// A conflict that forces a barrier into the slots [first, second).
struct ForcingPair {
  DispatchId first;
  DispatchId second;

  bool operator==(const ForcingPair&) const = default;
};

struct BarrierBounds {
  // For the given issue order. Each conflict i<j needs a barrier in the slots [i,j); the greedy
  // choice is optimal because the conflicts that force its barriers are disjoint intervals.
  uint64_t fewest_barriers = 0;
  // The certificate: as many conflicts, whose slots are disjoint (certificate.h verifies it).
  std::vector<ForcingPair> forcing;
  // Likewise for RAW and WAW alone: the full barriers among any that leave no hazard.
  uint64_t fewest_full_barriers = 0;
  // With free reordering: levels of the conflict graph, minus 1. Dispatches on the longest chain of
  // conflicts, minus 1.
  uint64_t longest_chain = 0;
  // Such a chain, in issue order, each in conflict with the next; empty where it is no shorter than
  // fewest_barriers, so that no other order does better.
  std::vector<DispatchId> chain;
};

// The greedy choice as part of a pass over the dispatches.
class GreedyBarriers : public ConflictObserver {
 public:
  void see(DispatchId dispatch, const LatestConflicts& latest) override;

  // The barriers chosen so far: the fewest for the dispatches seen.
  uint64_t count() const { return forcing_.size(); }

  // Requires: every dispatch of `program` was seen; called once. `segments` is built from it.
  BarrierBounds bounds(const Program& program, const ByteSegments& segments) &&;

 private:
  Stamp epoch_begin_ = 0;  // Dispatch indices.
  Stamp memory_epoch_begin_ = 0;
  uint64_t fewest_full_ = 0;
  std::vector<ForcingPair> forcing_;
};

// Cost: O(a log a) for a accesses.
BarrierBounds barrier_bounds(const Program& program);

// As above. Requires: `segments` was built from `program`.
BarrierBounds barrier_bounds(const Program& program, const ByteSegments& segments);

// Only BarrierBounds::fewest_barriers, in half the time.
uint64_t fewest_barriers(const Program& program, const ByteSegments& segments);

}  // namespace interlock
