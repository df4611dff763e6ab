// Runs a command with the capture layer in its environment, and finds the logs that it leaves.
#pragma once

#include <string>
#include <vector>

#include "encoder/program/result.h"
#include "fuzz/cli/captured_environment.h"

namespace interlock {

struct CapturedRun {
  std::vector<std::string> logs;  // One for each process that created a Vulkan instance, by name.
  int exit_status = 0;            // Of the command; 128 + signal if a signal ended it.
  bool has_unfinished = false;    // A process still appends to its log.
};

// The folder with the manifest of the layer: beside this program, or where it is installed.
// Errors: there is none.
Result<std::string> find_layer_folder();

// Runs the command to its end, and to that of the processes that it leaves behind, with their logs
// in `folder`, which is there and empty. Signals that ask this process to end go on to the command;
// after one, what it leaves behind is not waited for. Errors: it cannot be started.
Result<CapturedRun> run_captured(const std::vector<std::string>& command,
                                 const std::string& layer_folder, const std::string& folder,
                                 const CaptureRequest& request);

// A new folder of a name that nobody has, for what is removed again.
Result<std::string> make_temporary_folder();

void remove_folder(const std::string& folder);

}  // namespace interlock
