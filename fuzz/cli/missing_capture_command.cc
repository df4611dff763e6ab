// interlock capture, where it was built without Vulkan's headers and SPIRV-Tools: says so.
#include <string>
#include <vector>

#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"

namespace interlock {
namespace {

struct MissingCaptureOptions {
  std::vector<std::string> command;
};

ExitStatus refuse_capture(const MissingCaptureOptions&) {
  report_error(
      {"this program was built without capture: it needs volk.h, the Vulkan headers and "
       "SPIRV-Tools."});
  return ExitStatus::kUnavailable;
}

}  // namespace

void add_capture_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<MissingCaptureOptions>(
      app, status, "capture", "runs a Vulkan application (not built in)", refuse_capture);
  command.add_option("command", options.command, "the application and its arguments, after --");
}

}  // namespace interlock
