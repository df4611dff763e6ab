// Destroy needs: which barriers the `destroy` statements of a program wait for.
#pragma once

#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/barrier_bounds.h"

namespace interlock {

struct DestroyNeeds {
  // For each statement that carries out a destroy, in order: the last dispatch that accesses its
  // bytes. None where no dispatch does.
  std::vector<ForcingPair> pairs;
  // The barriers that alone stand between a destroy and an access of its bytes, in order: without
  // one of them that access is pending.
  std::vector<BarrierId> barriers;
  bool is_complete = true;  // Else a hostile program ended the search: other barriers count, too.
};

// Cost: constant without a destroy, else as check_lifetimes().
DestroyNeeds find_destroy_needs(const Program& program);

}  // namespace interlock
