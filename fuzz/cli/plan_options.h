// Options of planners, for the subcommands that plan.
#pragma once

#include <CLI/CLI.hpp>

#include "encoder/planner.h"

namespace interlock {

// Adds --align, --slack, --antichain, --keep-inputs, --no-opaque-in-place and --region.
void add_plan_options(CLI::App& command, PlanOptions& options);

}  // namespace interlock
