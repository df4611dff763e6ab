// What a shader touches by the addresses of buffers, bounded: no binding names it.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/convert/captured_addresses.h"
#include "capture/convert/dispatch_operands.h"
#include "capture/convert/summary.h"
#include "capture/spirv/address_origins.h"

namespace interlock {

struct AddressedOperands {
  std::vector<CapturedOperand> operands;
  bool may_be_any = false;    // Some address is not known: all buffers that have one are there.
  bool is_understood = true;  // Else `summary` says what was not.
  uint64_t step_count = 0;    // Origins and buffers that were looked at.
};

// `summary` counts what is not known, and bounded. Requires: `uses` is not empty.
AddressedOperands addressed_operands_of(const std::vector<AddressUse>& uses,
                                        const PushedConstants& pushed,
                                        const CapturedAddresses& addresses,
                                        CaptureSummary& summary);

}  // namespace interlock
