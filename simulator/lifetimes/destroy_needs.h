// Destroy needs: which barriers the `destroy` statements of a program wait for.
#pragma once

#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// A conflict, or a destroy of bytes that `first` accesses, that forces a barrier into the slots
// [first, second).
struct ForcingPair {
  DispatchId first;
  DispatchId second;   // With `destroy`: the dispatch after it, or their number if there is none.
  LifetimeId destroy;  // The statement that carries out a destroy; none: a conflict.

  bool operator==(const ForcingPair&) const = default;
};

struct DestroyNeeds {
  // For each statement that carries out a destroy, in order: the last dispatch that accesses its
  // bytes. None where no dispatch does.
  std::vector<ForcingPair> pairs;
  // The barriers that alone stand between a destroy and an access of its bytes, in order: without
  // one of them that access is pending.
  std::vector<BarrierId> barriers;
  std::vector<StageMask> stages;  // By these: where the accesses are, all of which they order.
  // Those of the barrier; none if it is not there. Cost: logarithmic.
  StageMask stages_of(BarrierId barrier) const;

  bool is_complete = true;  // Else a hostile program ended the search: other barriers count, too.
};

// Cost: constant without a destroy, else as check_lifetimes().
DestroyNeeds find_destroy_needs(const Program& program);

}  // namespace interlock
