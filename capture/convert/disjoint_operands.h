// Operands of a captured dispatch, and how those that overlap become some that do not.
#pragma once

#include <vector>

#include "capture/convert/captured_bytes.h"
#include "encoder/program/program.h"

namespace interlock {

struct CapturedOperand {
  CapturedBytes bytes;
  AccessMode mode = AccessMode::kRead;
};

// Bytes that are read, bytes that are written, and those of atomics, as operands that do not
// overlap: what is more than one of these is updated. Others stay as they are. Requires: none has
// rows.
std::vector<CapturedOperand> disjoint_operands(const std::vector<CapturedOperand>& operands);

}  // namespace interlock
