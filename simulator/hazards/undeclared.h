// Undeclared accesses: bytes that a dispatch touches and does not declare. Encoders and trackers
// know what is declared; hazards come from what is touched.
#pragma once

#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/access_ref.h"

namespace interlock {

// An operand after `actual` of which declared operands do not cover every byte: reads by what is
// declared to be read, uniform reads by uniform ones, writes by what is declared to be written, and
// atomics by atomics. Each side of an update is covered by itself; an empty range needs nothing.
struct UndeclaredAccess {
  AccessRef access;
  ByteRange bytes;  // The first maximal run that is not covered, in the memory.

  bool operator==(const UndeclaredAccess&) const = default;
};

// Returns the bytes of an operand after `actual` that are not declared in that way, as maximal
// runs in rising order; none of a declared operand. Cost: O(n log n) for the n operands of the
// dispatch.
std::vector<ByteRange> undeclared_bytes_of(const Program& program, AccessRef ref);

// Returns them in reference order, by operand. Cost: linear in the accesses, and for each operand
// after `actual` O(n log n) for the n operands of its dispatch.
std::vector<UndeclaredAccess> find_undeclared_accesses(const Program& program);

}  // namespace interlock
