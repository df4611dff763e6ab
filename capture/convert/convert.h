// convert_log: the program that an application submitted, from the log of its calls. Records are
// read one at a time and submissions written as they come: what is kept is what the application
// kept, and for longer the values of its timelines and the names of its events.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "capture/convert/summary.h"
#include "encoder/program/limits.h"
#include "encoder/program/result.h"

namespace interlock {

// Writes the text of the program to `output`. What is not understood is left out, and counted in
// the summary; comments at the end of the text say the same. Errors: `log` is no log, or one that
// contradicts itself; a stop (stop.h).
Result<CaptureSummary> convert_log(std::istream& log, const std::string& name, std::ostream& output,
                                   const Limits& limits = {});

}  // namespace interlock
