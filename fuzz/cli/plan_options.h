// Options of planners, for the subcommands that plan.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "encoder/plan/planner.h"
#include "encoder/program/result.h"

namespace interlock {

// Adds --align, --slack, --antichain, --keep-inputs, --no-opaque-in-place and --region.
void add_plan_options(CLI::App& command, PlanOptions& options);

// Errors: the command line has one of these options, and `planner` makes nothing of it; none does
// if it has no name.
Result<Success> check_plan_options(const CLI::App& command, std::string_view planner);

}  // namespace interlock
