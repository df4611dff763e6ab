// Options that name passes, and those of planners.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "encoder/plan/planner.h"
#include "encoder/program/result.h"
#include "fuzz/external/opened_encoder.h"
#include "fuzz/external/opened_pass.h"
#include "fuzz/external/opened_queue_encoder.h"
#include "fuzz/judge/pass_chain.h"

namespace interlock {

// Passes that the command line names and no registry has, and what they are asked with.
struct ExternalOption {
  ExternalOptions options;
  std::string queue_kind;  // Of the queues that the encoder has; empty: it is of one.
  std::unique_ptr<OpenedEncoder> opened;              // Null as long as none is named. So below.
  std::unique_ptr<OpenedQueueEncoder> queue_encoder;  // In the place of `opened`.
  std::unique_ptr<OpenedPass> planner;
  std::unique_ptr<OpenedPass> backward;
  std::unique_ptr<OpenedPass> replay;

  // " --exec-timeout=2", if that is not the default, and " --queue-kind=serial", if there is one.
  std::string flags() const;
};

// Adds --exec-timeout.
void add_exec_options(CLI::App& command, ExternalOption& option);

// Adds --queue-kind.
void add_queue_kind(CLI::App& command, ExternalOption& option);

// Errors: there is a --queue-kind, and `encoder` is none that it is for.
Result<Success> check_queue_kind(const ExternalOption& option, const std::string& encoder);

struct PassNames {
  std::string backward;
  std::string replay;
  std::string planner;
  std::string encoder;
};

// Whether one of them is no part of this build.
bool has_external_name(const PassNames& names);

// The passes of these names, null for an empty name. One that is none of ours is opened for it.
// Errors: there is none of a name; one cannot be opened; a time that is none.
// Requires: `external` outlives what is returned.
Result<PassChain> find_passes(const PassNames& names, ExternalOption& external);

// Adds --align, --slack, --antichain, --keep-inputs, --no-opaque-in-place and --region.
void add_plan_options(CLI::App& command, PlanOptions& options);

// Errors: the command line has one of these options, and `planner` makes nothing of it; none does
// if it has no name.
Result<Success> check_plan_options(const CLI::App& command, std::string_view planner);

}  // namespace interlock
