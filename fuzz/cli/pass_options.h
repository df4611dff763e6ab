// Options that name passes, and those of planners.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "encoder/plan/planner.h"
#include "encoder/program/result.h"
#include "fuzz/judge/pass_chain.h"

namespace interlock {

struct PassNames {
  std::string backward;
  std::string replay;
  std::string planner;
  std::string encoder;
};

// The passes of these names, null for an empty name. Errors: there is none of a name.
Result<PassChain> find_passes(const PassNames& names);

// Adds --align, --slack, --antichain, --keep-inputs, --no-opaque-in-place and --region.
void add_plan_options(CLI::App& command, PlanOptions& options);

// Errors: the command line has one of these options, and `planner` makes nothing of it; none does
// if it has no name.
Result<Success> check_plan_options(const CLI::App& command, std::string_view planner);

}  // namespace interlock
