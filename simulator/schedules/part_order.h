// Part order: which part of an operation must come before which, as the machine of counters says:
// one that never runs while another is withheld comes after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {

// The parts of all operations, in an order in which the machine carries them out, and what must
// come before each.
struct PartOrder {
  std::vector<OperationPart> parts;
  std::vector<uint64_t> earlier;  // By part, a set of positions as bits.

  bool is_before(size_t first, size_t second) const { return (earlier[second] >> first & 1) != 0; }
};

inline constexpr size_t kOrderedPartsMax = 64;

// Whole operations, or fetches and commits of theirs too, as `splits_memory` has it.
// Requires: `program` has no deadlock, and at most kOrderedPartsMax parts.
// Cost: a run of the machine for each part.
PartOrder find_part_order(const Program& program, bool splits_memory);

}  // namespace interlock
