// Reports: what `interlock check` prints about one program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program.h"
#include "simulator/check.h"
#include "simulator/expectations.h"

namespace interlock {

// The findings, each with its details, and one summary line. At most `limit` findings are printed
// in full; 0 prints all. `file_name` stands in the lines that say how to replay.
std::string text_report(const Program& program, const CheckReport& report,
                        std::string_view file_name, uint64_t limit = 0);

// "456 dispatches, 1080 accesses, 455 barriers; fewest for this order 407, longest chain 407; no
// findings. 48 barriers above the minimum." without a newline.
std::string summary_of(const CheckReport& report);

// One JSON object on one line, as docs/json.md says. `outcome` is that of the program's `expect`
// lines; empty if it has none.
std::string json_report(const Program& program, const CheckReport& report,
                        const ExpectationOutcome& outcome, std::string_view file_name);

}  // namespace interlock
