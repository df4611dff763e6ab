// interlock minimize: shrinks a failing program to what its finding needs.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/cli/amounts.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/deadline.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/minimize/minimizer.h"
#include "fuzz/minimize/statement_origins.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

constexpr unsigned kMinimizeGraceSeconds = 10;  // The smallest program so far is put away.

struct MinimizeCommandOptions {
  InputOptions input;
  std::string output = "-";
  bool keeps_kernels = true;
  bool keeps_names = true;
  bool lists_possible = false;
  std::string seconds;  // Text; empty: until nothing gets smaller.
  uint64_t evaluations_max = MinimizeOptions{}.evaluation_limit;
};

// As `check` counts them: what the host does is none.
size_t count_dispatches(const Program& program) {
  return program.dispatches.size() - program.uncounted_dispatches.size();
}

// Why it is not at a fixpoint.
std::string end_text(const MinimizeReport& report, const Deadline& deadline,
                     const MinimizeCommandOptions& options) {
  if (report.is_fixpoint) return "";
  if (deadline.has_passed()) {
    return fmt::format("; stopped after --seconds={}, before a fixpoint", options.seconds);
  }
  return "; stopped before a fixpoint";
}

ExitStatus run_minimize(const MinimizeCommandOptions& options) {
  const Interruptible interruptible(kMinimizeGraceSeconds);
  std::optional<double> seconds;
  if (!options.seconds.empty()) {
    seconds = seconds_in(options.seconds);
    if (!seconds) {
      return report_error(
          {fmt::format("--seconds={} is no time, as 90, 2m or 1.5h is.", options.seconds)});
    }
  }
  Deadline deadline(seconds.value_or(0));
  show_progress("reading the program");
  std::vector<uint64_t> lines;
  ParseOptions parse_options = options.input.parse;
  parse_options.statement_lines = &lines;
  const Result<Program> program = parse_file(options.input.path, parse_options);
  if (!program) {
    return report_error(program.error());
  }
  show_progress(
      fmt::format("looking for what goes wrong in {} dispatches", count_dispatches(*program)));
  MinimizeOptions minimize_options;
  minimize_options.detail =
      options.keeps_kernels ? SignatureDetail::kKernels : SignatureDetail::kShape;
  minimize_options.lists_possible = options.lists_possible;
  minimize_options.keeps_names = options.keeps_names;
  minimize_options.evaluation_limit = options.evaluations_max;
  minimize_options.stop = &deadline.stop();
  minimize_options.on_progress = [](const MinimizeProgress& progress) {
    show_progress(fmt::format("{} evaluations, {} dispatches left", progress.evaluation_count,
                              progress.dispatch_count));
  };
  std::optional<LabelledProgram> original;
  if (options.keeps_names) original = with_labels_of_origin(*program);
  const Result<MinimizeReport> report =
      minimize_program(original ? original->program : *program, minimize_options);
  if (!report) {
    return report_error({report.error().message});
  }
  const StopScope to_the_end(nullptr);
  show_progress(fmt::format("{} of {} dispatches are left after {} evaluations{}.",
                            count_dispatches(report->program), count_dispatches(*program),
                            report->evaluation_count, end_text(*report, deadline, options)),
                true);
  const std::string text =
      original ? text_with_origins(report->program, *original, options.input.path, lines)
               : print(report->program);
  const ExitStatus status = write_output(options.output, text, ExitStatus::kFinding);
  if (status == ExitStatus::kFinding && options.output != "-") {
    finish_progress();
    print_remark(fmt::format("Picture: interlock show {}\n", shown_word(options.output)));
  }
  return status;
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
  command.add_flag("--keep-names,!--plain-names", options.keeps_names,
                   "keep names of memories, opaque kernels and labels, and say in comments where "
                   "statements stood (default); or merge and rename, too");
  command.add_option("--seconds", options.seconds,
                     "end after this time with the smallest so far, as 90, 2m or 1.5h");
  command.add_flag("--possible", options.lists_possible,
                   "hazards count where approximate dispatches need not touch the bytes");
  add_number(command, "--max-evaluations", options.evaluations_max, "of candidate programs", 1);
}

}  // namespace interlock
