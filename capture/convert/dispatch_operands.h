// The operands of a dispatch: what its shader can do to each binding, on the bytes that the bound
// descriptors name.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/convert/captured_addresses.h"
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

// Bytes that are read, and bytes that are written, as operands that do not overlap: what is both is
// updated. Others stay as they are. Requires: none has rows.
std::vector<CapturedOperand> disjoint_operands(const std::vector<CapturedOperand>& operands);

// What a view shows; none if that is not known.
std::vector<CapturedBytes> bytes_of(const CapturedImageView& view);

struct DispatchOperands {
  // In the order of the text format. No byte is read by one operand and written by another, as
  // storage; what is read as uniform, or as arguments, may be written, too.
  std::vector<CapturedOperand> operands;
  bool is_understood = true;  // Else `summary` says what was not.
  // The operands are what was touched; else they bound it.
  bool is_exact = false;
  bool has_addresses = false;  // Something is touched by the address of a buffer.
  uint64_t step_count = 0;     // Descriptors and ranges that were looked at.
};

// Of a draw, beside its vertices and its attachments: what its pipeline can do, as of a dispatch.
// Addresses name the buffers that `addresses` has for them.
// `measured` is what the dispatch touched, as it was noted; null if it was not. What it does not
// speak of is bounded.
DispatchOperands operands_of(const BoundState& bound, const DispatchCommand& dispatch,
                             const CapturedAddresses& addresses,
                             const ExactAccessesRecord* measured, CaptureSummary& summary);

}  // namespace interlock
