// Focus: what of a program a picture of one finding has to show, where it cannot show everything.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/picture/picture.h"
#include "simulator/report/check.h"
#include "simulator/report/finding.h"

namespace interlock {

// All statements of `program`: in reference order, then what never runs, in the order of the text.
// Requires: no text_order. Cost: that of find_reference_order().
RunOrder run_order_of(const Program& program);

// The statements that a finding names, each once: those of its accesses, what ended a value, who
// waits for whom. At most a few, but for a deadlock.
std::vector<StatementId> statements_of(const Program& program, const Finding& finding);

// Returns places, rising: all if there are no more than limits.rows_whole; else at most
// limits.rows_shown: what the finding names, where its repair goes and what its witness moves; the
// sync between its two ends; the dispatches around them. Without a finding: sync that can go, and
// both ends of the program. Cost: linear in the program.
std::vector<uint32_t> focus_of(const Program& program, const CheckReport& report,
                               const Finding* finding, std::span<const RepairLine> repair,
                               const RunOrder& order, const PictureLimits& limits);

// The statements that can go as a whole, in the order of the text.
std::vector<StatementId> useless_statements_of(const Program& program, const CheckReport& report);

}  // namespace interlock
