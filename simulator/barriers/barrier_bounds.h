// Barrier bounds: how few barriers the conflicts of a program need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/conflict_scan.h"
#include "simulator/lifetimes/destroy_needs.h"

namespace interlock {

struct BarrierBounds {
  // For the given issue order. Each conflict i<j needs a barrier in the slots [i,j), and so does a
  // destroy right before dispatch j of bytes that i accesses; the greedy choice is optimal because
  // what forces its barriers are disjoint intervals.
  uint64_t fewest_barriers = 0;
  // The certificate: as many conflicts and destroys, whose slots are disjoint (certificate.h
  // verifies it).
  std::vector<ForcingPair> forcing;
  // Likewise for RAW and WAW alone: the full barriers among any that leave no hazard.
  uint64_t fewest_full_barriers = 0;
  // With free reordering: levels of the conflict graph, minus 1. Dispatches on the longest chain of
  // conflicts, minus 1. Destroys are not in it.
  uint64_t longest_chain = 0;
  // Such a chain, in issue order, each in conflict with the next; empty where it is no shorter than
  // fewest_barriers, so that no other order does better, and where bytes are destroyed.
  std::vector<DispatchId> chain;
};

// The greedy choice as part of a pass over the dispatches.
class GreedyBarriers : public ConflictObserver {
 public:
  // `destroys`: DestroyNeeds::pairs of the program.
  explicit GreedyBarriers(std::vector<ForcingPair> destroys);

  void see(DispatchId dispatch, const ScannedConflicts& latest) override;

  // The fewest barriers. Requires: every dispatch was seen.
  uint64_t count();

  // Requires: every dispatch of `program` was seen; called once. `segments` is built from it.
  BarrierBounds bounds(const Program& program, const ByteSegments& segments) &&;

 private:
  // Apart, so that see() needs no room for what is seldom done.
  void see_destroys(DispatchId dispatch);
  void append_level(Stamp level);
  void append_forcing(DispatchId first, DispatchId second);

  std::vector<ForcingPair> destroys_;
  size_t next_destroy_ = 0;
  Stamp epoch_begin_ = 0;  // Dispatch indices.
  Stamp memory_epoch_begin_ = 0;
  uint64_t fewest_full_ = 0;
  std::vector<ForcingPair> forcing_;
  std::vector<Stamp> levels_;  // Of the first dispatches, as far as the pass knows them.
};

// Cost: O(a log a) for a accesses, and find_destroy_needs().
BarrierBounds barrier_bounds(const Program& program);

// Only BarrierBounds::fewest_barriers, in half the time. Requires: `segments` was built from
// `program`.
uint64_t fewest_barriers(const Program& program, const ByteSegments& segments);

}  // namespace interlock
