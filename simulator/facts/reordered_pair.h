// The two dispatches whose order is wrong where a read sees another writer than program order gives
// it.
#pragma once

#include "encoder/program/program.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/hazards/data_flow.h"

namespace interlock {

// `check` and an expect line name these two: of the reader, the writer that it sees and the right
// one. Each with the operand that touches the bytes.
struct ReorderedPair {
  AccessRef issued_first;
  AccessRef issued_second;
  // Whether program order has the two the other way round, which explains the read. Where rows of
  // atomics differ without such a pair: the writer that is seen, or else the right one, and the
  // reader; at the end of the program the two writers.
  bool is_inverted = false;
};

// Cost: linear in the operands of the three dispatches.
ReorderedPair reordered_pair_of(const Program& program, const ReorderedRead& read);

}  // namespace interlock
