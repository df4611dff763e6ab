// A synthetic stream for benchmarks: opaque dispatches with 3 reads and 1 write over 1024 buffers
// of 256 bytes.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/program/program.h"

namespace interlock {

// Each run of `period` dispatches has no dependency within itself.
std::string dispatch_stream_text(int64_t dispatch_count, int64_t period);

Program dispatch_stream(int64_t dispatch_count, int64_t period);

}  // namespace interlock
