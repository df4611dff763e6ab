// Program order: what `order=N` says, among dispatches and what the host does.
#pragma once

#include "encoder/program/program.h"

namespace interlock {

// Gives what the host does, which has no number, its place in program order: that of the highest
// number before it in `program`. Changes nothing where no dispatch has a number. Cost: linear.
void order_host_statements(Program& program);

// Equal numbers are of the host, and go by position. Cost: constant.
bool is_earlier_in_program_order(const Program& program, DispatchId a, DispatchId b);

}  // namespace interlock
