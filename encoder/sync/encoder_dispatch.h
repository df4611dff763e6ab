// What an encoder is told of a dispatch of a program.
#pragma once

#include "encoder/program/program.h"
#include "encoder/sync/encoder.h"

namespace interlock {

// Returns the declared accesses of the dispatch, which refer to `program`, and where it executes.
// Cost: constant.
EncoderDispatch encoder_dispatch_of(const Program& program, DispatchId id);

}  // namespace interlock
