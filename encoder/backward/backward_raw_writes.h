// The rule that what is written raw is no value: a gradient may not flow through bytes that a
// dispatch has named by their memory meanwhile.
#pragma once

#include "encoder/backward/backward_graph.h"
#include "encoder/backward/backward_values.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Errors: a raw write into the bytes of a value that lies between a tensor of `wrt` and the loss,
// after what writes it (of `wrt`, after what reads it first) and before what reads it last; of
// the loss and of `wrt`, before the program ends. What is uploaded into a tensor of `wrt` before
// anything reads it is what it holds.
// Cost: near linear in the program, and in the raw writes that end up on the bytes of one tensor.
Result<Success> check_raw_writes(const Program& program, const BackwardValues& values,
                                 const BackwardGraph& graph);

}  // namespace interlock
