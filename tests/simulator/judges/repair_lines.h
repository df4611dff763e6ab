// A repair, made in the text of a program as by hand.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/report/finding.h"

namespace interlock {

// `text` with these lines in it. Requires: its statements stand one a line, and those after the
// first one are not mixed with declarations; it was parsed as `program`.
std::string with_repair(const std::string& text, const Program& program,
                        std::span<const RepairLine> lines);

}  // namespace interlock
