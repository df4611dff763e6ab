// Options that subcommands share, and what they read and write with them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/interface/backend.h"
#include "encoder/text/parser.h"
#include "fuzz/cli/console.h"

namespace interlock {

// Adds a subcommand and its options, which `run` gets when it is the one that was asked for.
// Returns both.
template <typename Options, typename Run>
std::pair<CLI::App&, Options&> add_subcommand(CLI::App& app, ExitStatus& status,
                                              const std::string& name, const std::string& help,
                                              Run run) {
  CLI::App* const command = app.add_subcommand(name, help);
  auto options = std::make_shared<Options>();
  command->callback([options, run, &status] { status = run(*options); });
  return {*command, *options};
}

struct InputOptions {
  std::string path;
  ParseOptions parse;
};

// Adds the positional FILE ("-" is standard input) and --max-input-mib.
void add_input_options(CLI::App& command, InputOptions& options);

// Accepts a whole number in [min, max] and nothing else, also with an exponent, which is written
// out: "1e6". To be used as a transform. CLI11 wraps negative numbers around.
CLI::Validator whole_number(uint64_t min = 0, uint64_t max = UINT64_MAX);

// Accepts one of these names; the error says which may be meant.
CLI::Validator one_of(std::vector<std::string> names);

// Accepts where write_output() can begin to write; "-" is standard output.
CLI::Validator writable_path();

// Adds an option whose value is such a number; the help shows the default.
template <typename Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, Number& value,
                        const std::string& help, uint64_t min = 0, uint64_t max = UINT64_MAX) {
  return command.add_option(name, value, help)
      ->transform(whole_number(min, max))
      ->capture_default_str();
}

// Adds --max-input-mib alone, for commands with several files.
void add_limit_options(CLI::App& command, ParseOptions& options);

// Adds --output.
void add_output_option(CLI::App& command, std::string& path);

// Writes `text` there; "-" is standard output. Returns `status`, or prints why it cannot be written
// and returns kBadInput.
ExitStatus write_output(const std::string& path, const std::string& text, ExitStatus status);

// The path as one word for a shell, on a line that is shown for somebody to run: "'a b.ilk'",
// "./-x.ilk".
// Control bytes of the name, with which a terminal would do something, as \xNN.
std::string shown_word(std::string_view path);

// The name ends so, in letters of any case. Requires: `ending` has no capital.
bool has_ending(std::string_view path, std::string_view ending);

// "ggml" of "out/ggml.ilk", and of "out/ggml.ilk.gz".
std::string stem_of(std::string_view path);

// Returns the backend, there or not; or prints that there is none of this name, sets `status` to
// kBadInput and returns null.
Backend* find_named_backend(const std::string& name, ExitStatus& status);

// True iff it is there; else prints why it is not, and sets `status` to kUnavailable.
bool is_there(Backend& backend, const std::string& name, ExitStatus& status);

// Returns the backend, or prints why there is none and sets `status` to kUnavailable (a known name)
// or kBadInput.
Backend* require_backend(const std::string& name, ExitStatus& status);

// Prints the error of a run. Returns kFinding for a fault, kUnavailable if `backend` is not there
// any more, because its device was lost; else kBadInput: it does not run this program.
ExitStatus report_run_error(const Error& error, const Backend& backend);

}  // namespace interlock
