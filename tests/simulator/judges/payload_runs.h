// A third judge of signal_order.h: all runs of a program of serial queues, in which a binary
// semaphore is one bit, and whoever comes to a wait may take it.
#pragma once

#include <cstdint>
#include <optional>

#include "encoder/program/program.h"

namespace interlock {

// Returns whether in some run a binary semaphore that the program waits for is signaled while it is
// signaled, or a wait for it takes another signal than the one that it is paired with; none if
// there are more than `state_limit` states. Requires: no text_order; queues are QueueKind::kSerial,
// and the signals of each timeline come in order. Cost: states times statements.
std::optional<bool> breaks_a_payload(const Program& program, uint64_t state_limit);

}  // namespace interlock
