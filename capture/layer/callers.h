// Where calls come from: the code of the application that asks for a command.
#pragma once

#include <cstdint>

#include "capture/log/log_writer.h"

namespace interlock {

// Appends the addresses of the calls that are open on this thread, without those of the layer and
// of the loader; and, before that, the files that their code is from where these are new. Needs the
// tables of unwinding, which code for x86-64 and arm64 has unless it was built without.
// Cost: some microseconds.
void append_caller(LogWriter& log, uint64_t handle);

}  // namespace interlock
