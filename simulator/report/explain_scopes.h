// Which part of a dependency is missing between two dispatches of a program with scoped barriers.
#pragma once

#include <string>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

struct MissingDependency {
  std::string reason;  // A complete sentence.
  std::string fix;     // The smallest barrier that repairs it, and where it goes.
};

// Requires: `order` was built from `program`, and `hazard` found in it.
// Cost: linear in the dependencies and operands of the barriers between the two, of which only the
// first thousand are looked at for a reason.
MissingDependency explain_missing(const Program& program, const ScopedOrder& order,
                                  const Hazard& hazard);

}  // namespace interlock
