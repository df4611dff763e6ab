// Planners, backward passes and replay policies that the command line names and no registry has:
// "exec:COMMAND".
#pragma once

#include <memory>
#include <string>

#include "encoder/backward/backward.h"
#include "encoder/plan/planner.h"
#include "encoder/program/result.h"
#include "encoder/replay/replay.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/external/exec_pass.h"
#include "fuzz/external/opened_encoder.h"

namespace interlock {

// What keeps an entry alive: the one of its kind names it.
struct OpenedPass {
  std::string name;
  std::unique_ptr<ExternalPass> pass;
  PlannerEntry planner;
  BackwardEntry backward;
  ReplayEntry replay;
};

// Errors: those of ExecPass::open(); "lib:FILE" is for encoders alone. Requires:
// is_external_name(name).
Result<std::unique_ptr<OpenedPass>> open_pass(PassKind kind, const std::string& name,
                                              const ExternalOptions& options);

}  // namespace interlock
