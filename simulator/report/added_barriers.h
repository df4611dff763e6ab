// The fewest barriers that one queue lacks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/report/finding.h"

namespace interlock {

// What new barriers are.
enum class AddedBarriers : uint8_t {
  kGlobal,  // `execution` where they are for writes after reads alone.
  kScoped,  // Each names the stages and accesses of the pairs that it is for, and all bytes.
};

// Returns the lines of a change after which no barrier is missing between the two of any hazard of
// `findings`, or between a destroy and what is pending there: barriers that are `execution` and are
// to be about memory, and the fewest new ones beside them. Scoped ones can leave what `findings` do
// not name: other accesses of the same pairs. Requires: `findings` are those of check() of
// `program`, which has one queue without the host and no text_order; what is neither is passed
// over. Cost: O(n + h log h).
std::vector<RepairLine> find_barriers_to_add(const Program& program,
                                             std::span<const Finding> findings,
                                             AddedBarriers added = AddedBarriers::kGlobal);

}  // namespace interlock
