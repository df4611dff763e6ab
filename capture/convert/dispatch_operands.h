// The operands of a dispatch: what its shader can do to each binding, on the bytes that the bound
// descriptors name.
#pragma once

#include <vector>

#include "capture/convert/captured_bytes.h"
#include "capture/convert/command_lists.h"
#include "capture/convert/summary.h"
#include "encoder/program/program.h"

namespace interlock {

struct CapturedOperand {
  CapturedBytes bytes;
  AccessMode mode = AccessMode::kRead;
};

// In the order of the text format; no byte is read and written by different operands.
// What is not understood goes to `summary`; `is_understood` is false then.
std::vector<CapturedOperand> operands_of(const DispatchCommand& dispatch, CaptureSummary& summary,
                                         bool& is_understood);

// Bytes that are read, and bytes that are written, as operands that do not overlap: what is both is
// updated. Requires: none has rows.
std::vector<CapturedOperand> disjoint_operands(const std::vector<CapturedOperand>& operands);

}  // namespace interlock
