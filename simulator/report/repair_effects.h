// What a change of sync does beside the pair that it is for.
#pragma once

#include "simulator/barriers/order_findings.h"

namespace interlock {

// True iff `after` has a byte of a pair, in this order, that has a hazard of no kind in `before`, a
// lifetime or a read out of order that is not there, or does not run though `before` does. A pair
// that was unordered and is ordered now, and not visible yet, has none that is new; one that comes
// in the other order now has. Requires: both are known, and of programs with the same dispatches.
// Cost: O(n log n), and squared in what is no hazard.
bool brings_another(const OrderFindings& before, const OrderFindings& after);

}  // namespace interlock
