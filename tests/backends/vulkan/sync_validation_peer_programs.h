// The programs on which our verdict is compared with that of synchronization validation.
#pragma once

#include <cstdint>
#include <string_view>

#include "encoder/program/program.h"

namespace interlock {

struct PeerProgram {
  Program program;
  std::string_view origin;  // How it came to be, for a report.
};

// Program `index` of a fixed sequence. By turns: fuzzed programs with barriers of their own, as the
// encoder `interlock` or a mutant encodes them, and with one barrier removed; small programs with
// full, execution-only and scoped barriers, on aligned ranges and down to single bytes.
PeerProgram peer_program(uint64_t index);

}  // namespace interlock
