// Lists of test dispatches as Programs, for what takes a Program.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "tests/encoder/sync/obvious_checks.h"

namespace interlock {

// Memories m0, m1, … of `memory_bytes` each, and opaque dispatches without labels.
Program program_of(const std::vector<TestDispatch>& dispatches, uint64_t memory_bytes);

}  // namespace interlock
