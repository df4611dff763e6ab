// Ranges that were measured, as few operands: what is as wide and as far apart as what comes before
// it is a row of the same operand.
#pragma once

#include <vector>

#include "capture/convert/dispatch_operands.h"

namespace interlock {

// The same bytes. Requires: operands of the same mode and memory do not overlap, and stand in the
// order of their bytes.
std::vector<CapturedOperand> with_rows(const std::vector<CapturedOperand>& operands);

// Of each mode and memory one range, from the first byte to the last: they may overlap.
std::vector<CapturedOperand> bounded(const std::vector<CapturedOperand>& operands);

}  // namespace interlock
