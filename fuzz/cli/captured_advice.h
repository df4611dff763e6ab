// Advice on a captured program: of what can go, that which the log shows all uses of; and how many
// of the application's barriers do.
#pragma once

#include <cstdint>
#include <string>

#include "capture/convert/summary.h"
#include "encoder/program/program.h"
#include "simulator/report/check.h"

namespace interlock {

// What would go without a finding, and is no advice. What the host does to mapped coherent memory
// is no call, and the log does not have it: what it waits for, and barriers that name it, may be
// for that.
struct AdviceForHost {
  uint64_t wait_count = 0;     // Of the host.
  uint64_t barrier_count = 0;  // That name the host; or parts of those that do.

  // A sentence with a line end; empty if there is none.
  std::string text() const;
};

// Takes it out of the advice in `report`, where the host has coherent memory mapped.
AdviceForHost take_advice_for_host(const Program& program, const CaptureSummary& summary,
                                   CheckReport& report);

// Sets `report.joint`: of the barriers that the application asked for, and not those that come with
// a pass of graphics. Requires: `report` has advice for the host still.
void set_joint_advice(const Program& program, const CaptureSummary& summary, uint64_t work_limit,
                      CheckReport& report);

}  // namespace interlock
