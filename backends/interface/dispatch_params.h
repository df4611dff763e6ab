// What a backend passes to the body of a dispatch.
#pragma once

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// The params of the table, and those that `mix` takes from the dispatch: its identity, by which mix
// tells dispatches apart, is a hash of Program::reference_of(id).
// Cost: linear in the operands.
KernelParams dispatch_params_of(const Program& program, DispatchId id);

// Slices [first_slice, first_slice + slice_count) of a dispatch.
struct DispatchPiece {
  DispatchId dispatch;
  KernelParams params;  // dispatch_params_of()
  uint64_t first_slice = 0;
  uint64_t slice_count = 0;
};

// Returns what a kRun or kRunLate runs. Requires: the program has these slices.
DispatchPiece piece_of(const Program& program, const Step& step);

DispatchPiece whole_piece_of(const Program& program, DispatchId id);

}  // namespace interlock
