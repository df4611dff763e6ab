// Where the two ends of each finding were asked for.
#pragma once

#include <string>

#include "capture/convert/summary.h"
#include "encoder/program/program.h"
#include "simulator/report/check.h"

namespace interlock {

// For each command of a finding, and its submission: labels of the application, and, where callers
// were logged, files of code with offsets; with functions where `addr2line` is installed, and
// the file is still there and says of which source it is. Lines with their ends; empty if nothing
// is known. Cost: a process for each file of code.
std::string text_of_origins(const Program& program, const CheckReport& report,
                            const CaptureSummary& summary);

}  // namespace interlock
