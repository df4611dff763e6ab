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

// In the order of the text format. No byte is read by one operand and written by another, as
// storage; what is read as uniform, or as arguments, may be written, too.
// What is not understood goes to `summary`; `is_understood` is false then.
std::vector<CapturedOperand> operands_of(const DispatchCommand& dispatch, CaptureSummary& summary,
                                         bool& is_understood);

}  // namespace interlock
