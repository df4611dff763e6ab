// interlock capture: what a Vulkan application submits, judged, without changing the application.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "capture/convert/convert.h"
#include "encoder/program/error_of.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "fuzz/cli/agreement.h"
#include "fuzz/cli/captured_origins.h"
#include "fuzz/cli/captured_run.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/judge/pass_chain.h"
#include "simulator/report/check.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/report.h"

namespace interlock {
namespace {

struct CaptureOptions {
  std::vector<std::string> command;
  std::string output;
  std::string kept_log;
  std::string log;  // Instead of a command.
  CaptureRequest request;
  ParseOptions parse;
};

// For the second process and those after it: "out.2.ilk".
std::string numbered(const std::string& path, size_t index) {
  if (index == 0 || path.empty()) return path;
  const std::filesystem::path whole(path);
  const std::filesystem::path name =
      fmt::format("{}.{}{}", whole.stem().string(), index + 1, whole.extension().string());
  return (whole.parent_path() / name).string();
}

constexpr size_t kNamesShown = 8;  // Of what was not understood, in the last line.

// The command that measures what this one bounds; empty where a log does not say which it was,
// where nothing is to be executed, and where it was measured as far as can be.
std::string exact_command_of(const CaptureOptions& options) {
  const CaptureRequest& request = options.request;
  if (options.command.empty() || request.is_dry || request.is_exact) return "";
  std::string text = "interlock capture --exact";
  if (request.dropped_barrier) text += fmt::format(" --drop-barrier={}", *request.dropped_barrier);
  if (!request.pretended.empty()) text += " --pretend=" + shell_word(request.pretended);
  if (!options.output.empty()) text += " -o " + shell_word(options.output);
  text += " --";
  for (const std::string& argument : options.command) text += " " + shell_word(argument);
  return text;
}

// An option that is about the run of a command; empty if none was given.
std::string_view option_of_run(const CaptureRequest& request) {
  if (request.dropped_barrier) return "--drop-barrier";
  if (request.is_dry) return "--dry";
  if (request.with_callers) return "--backtrace";
  if (request.is_validated) return "--syncval";
  return request.pretended.empty() ? "" : "--pretend";
}

// Whether a barrier was to be left out that never came.
bool lacks_barrier(const CaptureSummary& summary) {
  return summary.options.drops_barrier != 0 && !summary.has_dropped_barrier;
}

// What the report alone does not say: which findings need not be, and what nothing is known of.
std::string text_of_doubts(const CheckReport& report, const CaptureSummary& summary,
                           const std::string& shown, const std::string& exact_command) {
  std::string text;
  const uint64_t finding_count = report.findings.size();
  const auto possible_count =
      static_cast<uint64_t>(std::ranges::count(report.findings, true, &Finding::is_possible));
  if (possible_count > 0) {
    text += fmt::format(
        "{} of {} possible, and need not be: what is approximate may touch less. `interlock check "
        "--possible {}` counts the same.\n",
        possible_count,
        finding_count == 1 ? "1 finding is" : fmt::format("{} findings are", finding_count), shown);
    if (!summary.is_exact && !exact_command.empty()) {
      text += fmt::format("What is touched decides: {}\n", exact_command);
    }
  }
  if (!summary.not_understood.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, count] : summary.not_understood) {
      if (names.size() == kNamesShown) break;
      names.push_back(name);
    }
    const uint64_t rest = summary.not_understood.size() - names.size();
    if (rest > 0) names.push_back(fmt::format("and {} more", rest));
    text += finding_count == 0 ? "No verdict: hazards may hide in what was not understood"
                               : "What was not understood may hide more, or order what is found";
    text += fmt::format(": {}.\n", fmt::join(names, "; "));
  }
  if (!summary.cut.empty()) text += fmt::format("No verdict on the rest: {}\n", summary.cut);
  if (summary.submission_count == 0) text += "No verdict: nothing was submitted.\n";
  if (lacks_barrier(summary)) {
    text += fmt::format(
        "No verdict: barrier {} was to be left out, and {}.\n", summary.options.dropped_barrier,
        summary.recorded_barrier_count == 0
            ? "none was recorded"
            : fmt::format("the last one was {}", summary.recorded_barrier_count - 1));
  }
  return text;
}

// The verdict on a program that was captured. What is only possible counts, too: of an application
// as it is little is certain.
ExitStatus judge(const std::string& path, const std::string& shown, const CaptureSummary& summary,
                 const CaptureOptions& options) {
  const Result<Program> program = parse_file(path, options.parse);
  if (!program) return report_error(program.error());
  CheckOptions check_options;
  check_options.counts_possible = true;
  const CheckReport report = check(*program, check_options);
  if (is_stopped()) return ExitStatus::kInterrupted;
  TextLimits limits;
  limits.redundant = 0;
  print_report(text_report(*program, report, shown, limits));
  print_out(text_of_origins(*program, report, summary));
  print_out(text_of_agreement(*program, report, summary));
  print_out(text_of_doubts(report, summary, shown, exact_command_of(options)));
  if (!report.findings.empty()) {
    if (options.output.empty()) {
      print_remark("-o FILE keeps the program, to be minimized (with --possible) and replayed.\n");
    }
    return ExitStatus::kFinding;
  }
  // Of what was not understood nothing is known: so that it is clean cannot be said.
  const bool is_open = report.is_truncated() || !summary.not_understood.empty() ||
                       !summary.cut.empty() || summary.submission_count == 0 ||
                       lacks_barrier(summary);
  return is_open ? ExitStatus::kNoVerdict : ExitStatus::kNothingFound;
}

// Converts into a file beside what it is to replace, and moves it there once it is whole.
ExitStatus convert_and_judge(const std::string& log, const std::string& output,
                             const std::string& folder, const CaptureOptions& options) {
  const std::string program = output.empty() ? folder + "/captured.ilk" : temporary_name(output, 0);
  std::ifstream input(log, std::ios::binary);
  std::ofstream text(program, std::ios::binary);
  if (!input) return report_error(error_of("{} cannot be read.", log));
  const Result<CaptureSummary> summary = convert_log(input, log, text, options.parse.limits);
  text.close();
  std::error_code error;
  if (!summary || !text) {
    std::filesystem::remove(program, error);
    return report_error(summary ? error_of("{} cannot be written.", program) : summary.error());
  }
  print_out(text_of(*summary));
  std::string path = program;
  if (!output.empty()) {
    std::filesystem::rename(program, output, error);
    if (error) return report_error(error_of("{}: {}.", output, error.message()));
    path = output;
  }
  const ExitStatus status = judge(path, output.empty() ? "FILE" : output, *summary, options);
  if (output.empty()) std::filesystem::remove(path, error);
  return status;
}

// Copies rather than moves: the two may be on different file systems.
bool keep_log(const std::string& log, const std::string& kept) {
  std::error_code error;
  std::filesystem::copy_file(log, kept, std::filesystem::copy_options::overwrite_existing, error);
  if (error) report_error(error_of("{}: {}.", kept, error.message()));
  return !error;
}

ExitStatus judge_run(const CapturedRun& run, const std::string& folder,
                     const CaptureOptions& options) {
  const Interruptible interruptible;
  if (run.exit_status != 0) {
    print_remark(
        fmt::format("'{}' ended with status {}.\n", options.command.front(), run.exit_status));
  }
  if (run.logs.empty()) {
    return report_error(
        error_of("'{}' created no Vulkan instance that loads layers.", options.command.front()));
  }
  ExitStatus status = ExitStatus::kNothingFound;
  for (size_t i = 0; i < run.logs.size(); ++i) {
    if (!options.kept_log.empty() && !keep_log(run.logs[i], numbered(options.kept_log, i))) {
      status = worse(status, ExitStatus::kBadInput);
    }
    status =
        worse(status, convert_and_judge(run.logs[i], numbered(options.output, i), folder, options));
  }
  return status;
}

ExitStatus run_and_judge(const std::string& folder, const CaptureOptions& options) {
  const Result<std::string> layer = find_layer_folder();
  if (!layer) return report_error(layer.error());
  const Result<CapturedRun> run = run_captured(options.command, *layer, folder, options.request);
  if (!run) return report_error(run.error());
  return judge_run(*run, folder, options);
}

ExitStatus run_capture(const CaptureOptions& options) {
  if (options.command.empty() == options.log.empty()) {
    return report_error({"capture takes a command after `--`, or --log=FILE, and not both."});
  }
  if (options.request.is_exact && !options.log.empty()) {
    return report_error({"--exact measures while a command runs: a log has what it has."});
  }
  const std::string_view of_run = option_of_run(options.request);
  if (!of_run.empty() && !options.log.empty()) {
    return report_error(
        {fmt::format("{} is about the run of a command: a log has what it has.", of_run)});
  }
  if (options.request.is_dry && (options.request.is_validated || options.request.is_exact)) {
    return report_error({fmt::format("--dry leaves {} no dispatch to look at.",
                                     options.request.is_exact ? "--exact" : "--syncval")});
  }
  if (options.request.is_exact && options.request.is_validated) {
    return report_error({"--syncval would look at what --exact adds: run one after the other."});
  }
  // While a command runs, signals are for the command: judge_run() follows it.
  std::optional<Interruptible> interruptible;
  if (!options.log.empty()) interruptible.emplace();
  // Beside a log may stand anything of the user's.
  const Result<std::string> folder = make_temporary_folder();
  if (!folder) return report_error(folder.error());
  const ExitStatus status = options.log.empty()
                                ? run_and_judge(*folder, options)
                                : convert_and_judge(options.log, options.output, *folder, options);
  remove_folder(*folder);
  return status;
}

// Of a list of --pretend; empty if there is none.
std::string complaint_about_pretended(const std::string& list) {
  std::string_view rest = list;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (word != "integrated" && word != "queues" && word != "features") {
      return fmt::format("'{}' is none of integrated, queues, features", word);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace

void add_capture_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<CaptureOptions>(
      app, status, "capture", "runs a Vulkan application, and judges what it submitted",
      run_capture);
  command.add_option("command", options.command, "the application and its arguments, after --");
  command.add_option("-o,--output", options.output, "where the program goes (.ilk)");
  command.add_option("--keep-log", options.kept_log, "where a copy of the log goes");
  command.add_option("--log", options.log, "a log that was kept, instead of a command");
  command.add_flag(
      "--exact", options.request.is_exact,
      "shaders note which bytes and texels they touch: slower, and hazards are certain");
  command.add_option("--drop-barrier", options.request.dropped_barrier,
                     "leaves this barrier out: N of a label that ends in .nN");
  command.add_flag("--syncval", options.request.is_validated,
                   "runs Khronos's synchronization validation below, and compares");
  command.add_flag("--backtrace", options.request.with_callers,
                   "logs where each command is asked for");
  command.add_flag("--dry", options.request.is_dry, "dispatches are logged, and not executed");
  command
      .add_option("--pretend", options.request.pretended,
                  "what the device is said to be: integrated, queues, features; apart by commas")
      ->check(complaint_about_pretended);
  add_limit_options(command, options.parse);
  read_every_queue(options.parse);
}

}  // namespace interlock
