// scan_conflicts: the one pass that visits all dispatches in issue order and knows, for each, its
// latest conflicts. Bounds, redundancy and hazards share it: what costs time is to find conflicts.
#pragma once

#include <span>

#include "encoder/program/program.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/byte_segments.h"

namespace interlock {

class ConflictObserver {
 public:
  virtual ~ConflictObserver() = default;

  // Called once per dispatch, in issue order. The stamps are dispatch indices plus 1.
  virtual void see(DispatchId dispatch, const LatestConflicts& latest) = 0;
};

// Shows every dispatch to each of `observers`, whatever sync orders.
// Requires: `segments` was built from `program`. Cost: O(a log a) for a accesses.
void scan_conflicts(const Program& program, const ByteSegments& segments,
                    std::span<ConflictObserver* const> observers);

}  // namespace interlock
