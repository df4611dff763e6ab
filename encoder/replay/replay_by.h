// What a replay policy makes of a program, whether it is one of this build or not.
#pragma once

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/replay/replay.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

// What became of it, or how a policy of others failed. Errors: those of a ReplayFunction.
Result<Encoding> replay_by(const Program& program, const ReplayEntry& replay);

}  // namespace interlock
