// The options of `interlock fuzz`: what they say of a campaign. A campaign that is merged is one of
// these options, too.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "encoder/program/result.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/cli/pass_options.h"

namespace interlock {

struct FuzzOptions {
  PassNames passes;
  ExternalOption external;
  CampaignOptions campaign;
  bool judges_excess = false;
  std::string backend = "cpu";
  std::string worker;           // A command for the shell; empty: this program.
  std::string seconds;          // Text; empty: not given.
  std::string seed = "1";       // Text, or "random".
  std::string shard;            // "I/N"; empty: all of it.
  std::string corpus;           // A path; empty: none.
  std::string progress = "1m";  // Text.
  double progress_seconds = 60;
  std::vector<std::string> report_paths;  // Of --report.
  const CLI::App* program = nullptr;      // All commands, for reports to name.
  bool is_quiet = false;
  bool is_verbose = false;
  std::vector<const CLI::Option*> of_work;  // Without any the command is not to do anything yet.
  double device_timeout_seconds = 150;
  std::vector<const CLI::Option*> of_devices;  // Which say nothing without one.
};

// Adds them to the command. Requires: `options` outlives it.
void add_fuzz_options(CLI::App& command, FuzzOptions& options);

// Adds those that say how much is told.
void add_telling_options(CLI::App& command, FuzzOptions& options);

// Sets of the campaign what the options say, but for the device. Errors: options that are no
// campaign, or no work.
Result<Success> set_campaign(FuzzOptions& options);

// Has the campaign tell of its progress and finds as the options say. Requires: `options` outlives
// it.
void tell_of_campaign(FuzzOptions& options);

}  // namespace interlock
