// Joint advice: how many of the barriers of a program that was checked do.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/barriers/joint_removal.h"
#include "simulator/report/check.h"

namespace interlock {

struct JointAdviceOptions {
  // Which barriers it is about; null: all.
  bool (*is_meant)(const Program& program, const Barrier& barrier) = nullptr;
  // What names the host stays: what the host does is not all there.
  bool keeps_for_host = false;
  uint64_t work_limit = CheckOptions().redundancy_budget;
};

// Returns find_joint_removal() of what the report says of each barrier by itself. Closing barriers
// (closing_sync.h) stay, and are none of those that are counted.
// Requires: `report` is what check() says of `program`, which has no text_order. Cost: as there.
JointRemoval find_joint_advice(const Program& program, const CheckReport& report,
                               const JointAdviceOptions& options = {});

}  // namespace interlock
