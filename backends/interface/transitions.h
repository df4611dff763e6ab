// Transitions: what barriers do to their operands (layout transitions, transfers of ownership),
// where bytes are all there is: they stay as they are, or are lost.
#pragma once

#include <cstdint>
#include <optional>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// What bytes hold that a barrier `discards`.
inline constexpr uint8_t kDiscardedByte = 0xd5;

// Why a backend that executes no transitions refuses the program; none if it has no transition.
// Cost: linear in the dispatches.
std::optional<Error> transition_refusal(const Program& program);

}  // namespace interlock
