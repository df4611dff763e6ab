// What commands that execute say of a program whose reference run never ends.
#pragma once

#include <optional>

#include "encoder/program/program.h"
#include "fuzz/cli/console.h"

namespace interlock {

// Prints who waits for whom, and returns kFinding; none if the program has no deadlock: that is no
// matter of a device or a schedule. Cost: that of its reference order.
std::optional<ExitStatus> report_endless(const Program& program);

}  // namespace interlock
