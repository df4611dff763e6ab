// interlock minimize: shrinks a failing program to what its finding needs.
#include <fmt/format.h>

#include <string>

#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

constexpr unsigned kMinimizeGraceSeconds = 10;  // The smallest program so far is put away.

struct MinimizeCommandOptions {
  InputOptions input;
  std::string output = "-";
  bool keeps_kernels = true;
  bool lists_possible = false;
  uint64_t evaluations_max = MinimizeOptions{}.evaluation_limit;
};

ExitStatus run_minimize(const MinimizeCommandOptions& options) {
  const Interruptible interruptible(kMinimizeGraceSeconds);
  show_progress("reading the program");
  const Result<Program> program = parse_file(options.input.path, options.input.parse);
  if (!program) {
    return report_error(program.error());
  }
  show_progress(
      fmt::format("looking for what goes wrong in {} dispatches", program->dispatches.size()));
  const MinimizeOptions minimize_options{
      .detail = options.keeps_kernels ? SignatureDetail::kKernels : SignatureDetail::kShape,
      .lists_possible = options.lists_possible,
      .evaluation_limit = options.evaluations_max,
      .on_progress = [](const MinimizeProgress& progress) {
        show_progress(fmt::format("{} evaluations, {} dispatches left", progress.evaluation_count,
                                  progress.dispatch_count));
      }};
  const Result<MinimizeReport> report = minimize_program(*program, minimize_options);
  if (!report) {
    return report_error({report.error().message});
  }
  const StopScope to_the_end(nullptr);
  show_progress(fmt::format("{} of {} dispatches are left after {} evaluations{}.",
                            report->program.dispatches.size(), program->dispatches.size(),
                            report->evaluation_count,
                            report->is_fixpoint ? "" : "; stopped before a fixpoint"),
                true);
  return write_output(options.output, print(report->program), ExitStatus::kFinding);
}

}  // namespace

void add_minimize_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<MinimizeCommandOptions>(
      app, status, "minimize", "shrinks a failing program", run_minimize);
  add_input_options(command, options.input);
  read_every_queue(options.input.parse);
  add_output_option(command, options.output);
  command.add_flag("--keep-kernels,!--any-kernels", options.keeps_kernels,
                   "keep the kernels of the finding (default), or only its kind and alias shape");
  command.add_flag("--possible", options.lists_possible,
                   "hazards count where approximate dispatches need not touch the bytes");
  add_number(command, "--max-evaluations", options.evaluations_max, "of candidate programs", 1);
}

}  // namespace interlock
