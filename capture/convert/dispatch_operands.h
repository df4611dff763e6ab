// The operands of a dispatch: what its shader can do to each binding, on the bytes that the bound
// descriptors name.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/convert/captured_bytes.h"
#include "capture/convert/command_lists.h"
#include "capture/convert/summary.h"
#include "capture/log/exact_records.h"
#include "encoder/program/program.h"

namespace interlock {

struct CapturedOperand {
  CapturedBytes bytes;
  AccessMode mode = AccessMode::kRead;
};

struct DispatchOperands {
  // In the order of the text format. No byte is read by one operand and written by another, as
  // storage; what is read as uniform, or as arguments, may be written, too.
  std::vector<CapturedOperand> operands;
  bool is_understood = true;  // Else `summary` says what was not.
  // The operands are what was touched; else they bound it.
  bool is_exact = false;
  uint64_t step_count = 0;  // Descriptors and ranges that were looked at.
};

// `measured` is what the dispatch touched, as it was noted; null if it was not. What it does not
// speak of is bounded.
DispatchOperands operands_of(const BoundState& bound, const DispatchCommand& dispatch,
                             const ExactAccessesRecord* measured, CaptureSummary& summary);

}  // namespace interlock
