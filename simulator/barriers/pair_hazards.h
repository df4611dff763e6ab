// What is hazardous between two dispatches, each operand with each.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/order/happens_before.h"

namespace interlock {

// Appends it, of all kinds; runs that touch or overlap are not joined. Returns what it visited.
// Requires: `order` was built from `program`, and first < second.
// Cost: the operands of the one times those of the other, and find_invisible() of each that meet.
uint64_t append_pair_hazards(const Program& program, const HappensBefore& order, DispatchId first,
                             DispatchId second, std::vector<ByteHazards>& hazards);

}  // namespace interlock
