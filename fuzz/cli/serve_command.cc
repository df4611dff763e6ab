// interlock serve: owns a device for another process; what `fuzz --backend` starts.
#include <string>

#include "backends/registry.h"
#include "backends/remote/serve.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"

namespace interlock {
namespace {

ExitStatus run_serve(const std::string& name) {
  ExitStatus status = ExitStatus::kNothingFound;
  Backend* const backend = find_named_backend(name, status);
  if (backend == nullptr) return status;
  serve_as_worker(*backend);
  return status;
}

}  // namespace

void add_serve_command(CLI::App& app, ExitStatus& status) {
  auto [command, backend] = add_subcommand<std::string>(
      app, status, "serve", "executes programs for `fuzz --backend`, in a process of its own",
      run_serve);
  backend = "cpu";
  command.group("");  // For processes, not for people.
  command.add_option("--backend", backend, "where")->capture_default_str();
}

}  // namespace interlock
