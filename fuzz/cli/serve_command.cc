// interlock serve: owns a device for another process; what `fuzz --backend` starts.
#include <memory>
#include <string>

#include "backends/registry.h"
#include "backends/remote/serve.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"

namespace interlock {
namespace {

ExitStatus run_serve(const std::string& name) {
  Backend* const backend = find_backend(name);
  if (backend == nullptr) return report_error({"there is no backend '" + name + "'."});
  serve_as_worker(*backend);
  return ExitStatus::kNothingFound;
}

}  // namespace

void add_serve_command(CLI::App& app, ExitStatus& status) {
  CLI::App* const command = app.add_subcommand(
      "serve", "executes programs for `fuzz --backend`, in a process of its own");
  command->group("");  // For processes, not for people.
  auto backend = std::make_shared<std::string>("cpu");
  command->add_option("--backend", *backend, "where")->capture_default_str();
  command->callback([backend, &status] { status = run_serve(*backend); });
}

}  // namespace interlock
