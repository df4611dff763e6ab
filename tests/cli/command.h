// Runs the built `interlock` binary as a user's shell would.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace interlock {

struct CommandResult {
  int status = -1;  // Exit status; 128 + signal if a signal ended it.
  std::string out;
  std::string err;
};

struct CommandLimits {
  uint64_t memory_bytes = 0;    // Address space; 0: unlimited.
  uint64_t cpu_seconds = 60;    // A hang ends the test, not the machine's patience.
  bool is_output_full = false;  // Standard output takes no byte.
};

// Returns what `interlock ARGUMENTS...` printed with `input` as its standard input.
CommandResult run_interlock(const std::vector<std::string>& arguments,
                            const std::string& input = "", const CommandLimits& limits = {});

// The same of what bash makes of `command`, in which `interlock` is the built one.
CommandResult run_shell(const std::string& command);

// Starts `interlock ARGUMENTS...`, whose output goes to these files. Returns its process, for which
// the caller waits.
int start_interlock(const std::vector<std::string>& arguments, const std::string& out_path,
                    const std::string& err_path);

// A path under the test's temporary folder that is of this process alone.
std::string temporary_path(const std::string& name);

// The same, where nothing is any more.
std::string fresh_path(const std::string& name);

// A file with this text at temporary_path(); returns its path.
std::string temporary_file(const std::string& name, const std::string& text);

// The arguments of the first command of `interlock` after `label` in `text`; none if there is none.
std::vector<std::string> command_after(const std::string& text, const std::string& label);

}  // namespace interlock
