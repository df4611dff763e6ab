// Agreement: what is found here beside what Khronos's synchronization validation says of the same
// run.
#pragma once

#include <string>

#include "capture/convert/summary.h"
#include "encoder/program/program.h"
#include "simulator/report/check.h"

namespace interlock {

// How many hazards both name, only we and only they, each of the latter with the reason. A hazard
// is a kind at a later command; they name one of the earlier commands, where there are several, and
// both name it if a check finds that pair, too. Lines with their ends. Empty where nobody asked.
// Cost: where they differ, one or two checks more of the program.
std::string text_of_agreement(const Program& program, const CheckReport& report,
                              const CaptureSummary& summary);

}  // namespace interlock
