// A second judge of hazards of several queues and the host: what the machine of counters can
// reverse.
#pragma once

#include <optional>
#include <string>

#include "encoder/program/program.h"

namespace interlock {

// Returns which two operations have other kinds of hazard by the clocks than the machine can
// reverse of their fetches and commits, as a complete sentence. Two of the host are left out, and
// what the host does at once or has lost. Requires: `run` is a reference run without a deadlock, of
// at most kOrderedPartsMax parts. Cost: a run of the machine for each part.
std::optional<std::string> find_wrong_kinds(const Program& run);

}  // namespace interlock
