// The text of a program whose `expect` lines say what is found.
#pragma once

#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"

namespace interlock {

// Returns `text` with other `expect` lines, and all else of it as it was: lines that hold stay as
// they are, those that do not go, and after the last one about the same subject (at the end, if
// there was none) stand lines for what was found besides; or `expect clean` for a subject of which
// none is left. A program that says nothing about itself says it then.
// Requires: `program` is of `text`, `report` and `outcome` are of `program`, and all was judged.
// Cost: linear in the text, times the logarithm of its expectations.
std::string update_expectations(std::string_view text, const Program& program,
                                const CheckReport& report, const ExpectationOutcome& outcome);

}  // namespace interlock
