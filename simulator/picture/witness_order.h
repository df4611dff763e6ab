// Witness order: the dispatches of a picture in the order of a schedule that shows its finding.
#pragma once

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"
#include "simulator/picture/picture.h"
#include "simulator/report/finding.h"

namespace interlock {

// Sets witness and witness_text of `picture`, which has its rows: of the dispatches outside folds,
// as far as they stand between those that move, the order in which the schedule runs them. Without
// a legal schedule it has none.
// Requires: `reference` is `program` in reference order, and `order` was built from it.
// Cost: that of schedule_of().
void draw_witness(const Program& program, const Program& reference, const HappensBefore& order,
                  const Finding& finding, Picture& picture);

}  // namespace interlock
