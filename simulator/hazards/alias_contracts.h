// Alias contracts: which operands of one dispatch may share bytes (kernel_table.h). No barrier can
// repair a violation: it happens within one dispatch. backends/reference/oracle_check.h asks nearly
// the same about one dispatch, and says why it does so itself.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Two operands of one dispatch that share bytes against the contract.
struct AliasViolation {
  DispatchId dispatch;
  uint32_t first = 0;   // Position of the input; of two outputs, the lower position.
  uint32_t second = 0;  // Position of the output.
  bool is_between_outputs = false;
  ByteRange overlap;  // In the memory of both.

  bool operator==(const AliasViolation&) const = default;
};

// Returns every violation, ordered by dispatch, then first, then second.
// An input and an output may share bytes only if the contract of the pair says "identical element"
// and the ranges are the same; opaque dispatches have this contract for every pair. Two outputs may
// share none. What `actual` repeats of what is declared in the same direction is no other operand:
// an operand after it counts for the bytes that it adds. An atomic operand is an output that may
// share no byte with any other operand, except that atomics commute among themselves. Cost: O(pairs
// of operands of one dispatch), summed over dispatches. At most `limit` of them, the first.
std::vector<AliasViolation> find_alias_violations(const Program& program,
                                                  uint64_t limit = UINT64_MAX);

}  // namespace interlock
