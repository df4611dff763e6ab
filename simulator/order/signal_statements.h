// Which statement has which part of a signal, and which signal is the one before.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// By Program::signal_parts; none where no statement has it. Cost: linear in the sync statements.
std::vector<StatementId> signal_statements_of(const Program& program);

inline constexpr uint32_t kNoSignal = UINT32_MAX;

// By Program::signal_parts: the part that signals the next lower value of the semaphore, if the
// same queue of a device does, so that the later one covers what it covers; else kNoSignal, as of
// binary semaphores. Cost: O(n log n).
std::vector<uint32_t> lower_signals_of(const Program& program);

}  // namespace interlock
