// RowParts: copy and fill of strided operands. What they do to the rows is what they do to runs of
// bytes one after another, so that a backend runs the kernel of contiguous operands on each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"

namespace interlock {

// Whether operands of the kernel may be strided: it works on bytes, one after another.
bool takes_rows(const KernelEntry& entry);

// Whether operands of a table kernel are rows: its accesses are then not one for each operand.
// Cost: linear in the accesses.
bool has_rows(const Program& program, const Dispatch& dispatch);

// A run of bytes that lies in one row of each operand.
struct RowPart {
  struct Operand {
    size_t access = 0;          // Of the dispatch.
    uint64_t offset_bytes = 0;  // In the access.
  };
  std::array<Operand, 2> operands;
  size_t operand_count = 0;
  uint64_t size_bytes = 0;
};

// Calls `take` with the parts of the dispatch, in the order of their bytes: byte k of what is read,
// counted over all its rows, goes to byte k of what is written. Without rows it is one part.
// Requires: the kernel takes_rows().
// Cost: linear in the accesses.
void for_each_row_part(const Program& program, const Dispatch& dispatch,
                       const std::function<void(const RowPart&)>& take);

// What the kernel needs to run on a part as one slice, if it needs `params` for all.
KernelParams params_of(const RowPart& part, const KernelParams& params);

}  // namespace interlock
