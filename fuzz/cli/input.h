// Options that every subcommand shares that reads a program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "backends/interface/backend.h"
#include "encoder/text/parser.h"
#include "fuzz/cli/exit_status.h"

namespace interlock {

struct InputOptions {
  std::string path;
  ParseOptions parse;
};

// Adds the positional FILE ("-" is standard input) and --max-file-mib.
void add_input_options(CLI::App& command, InputOptions& options);

// Accepts a decimal number in [min, max] and nothing else; CLI11 wraps negative numbers around.
CLI::Validator whole_number(uint64_t min = 0, uint64_t max = UINT64_MAX);

// Adds --max-file-mib alone, for commands with several files.
void add_limit_options(CLI::App& command, ParseOptions& options);

// Returns the backend, or prints why there is none and sets `status` to kUnavailable (a known name)
// or kBadInput.
Backend* require_backend(const std::string& name, ExitStatus& status);

// Prints the error of a run. Returns kFinding for a fault, kUnavailable if `backend` is not there
// any more, because its device was lost; else kBadInput: it does not run this program.
ExitStatus report_run_error(const Error& error, const Backend& backend);

}  // namespace interlock
