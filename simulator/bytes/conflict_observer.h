// What a pass over the dispatches of a program, in reference order, finds for each, and who is
// told.
#pragma once

#include "encoder/program/program.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/stamp_tree.h"

namespace interlock {

// The stamps are dispatch indices plus 1.
struct ScannedConflicts : LatestConflicts {
  // 1 where a dispatch conflicts with nothing earlier, else one more than the highest level that it
  // conflicts with. Zero: not known, as for all dispatches after this one.
  Stamp level = 0;
};

class ConflictObserver {
 public:
  virtual ~ConflictObserver() = default;

  // Called once per dispatch, in reference order.
  virtual void see(DispatchId dispatch, const ScannedConflicts& latest) = 0;
};

}  // namespace interlock
