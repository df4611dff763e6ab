// interlock report: what the campaigns of a folder came to, while they run or later.
#include <string>
#include <vector>

#include "encoder/program/stop.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/cli/report_files.h"

namespace interlock {
namespace {

struct ReportOptions {
  std::string folder;
  std::vector<std::string> paths;
  const CLI::App* program = nullptr;
};

ExitStatus run_report(const ReportOptions& options) {
  const Interruptible interruptible;
  const Result<Success> checked = check_report_paths(options.paths, {});
  if (!checked) return report_error(checked.error());
  const Result<CampaignStory> story = story_of(options.folder, *options.program);
  if (!story) return report_error(story.error());
  if (is_stopped()) return ExitStatus::kInterrupted;
  if (options.paths.empty()) print_out(terminal_text_of(*story));
  return write_reports(*story, options.paths);
}

}  // namespace

void add_report_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<ReportOptions>(
      app, status, "report", "tells what the campaigns of a folder came to (fuzz --out=DIR)",
      run_report);
  command.add_option("folder", options.folder, "of campaigns, with its journal")->required();
  options.program = &app;
  add_report_option(command, "-o,--output,--report", options.paths);
}

}  // namespace interlock
