// interlock capture: what a Vulkan application submits, judged, without changing the application.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/text/parser.h"
#include "fuzz/cli/captured_files.h"
#include "fuzz/cli/captured_run.h"
#include "fuzz/cli/captured_verdict.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/judge/pass_chain.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

struct CaptureOptions {
  std::vector<std::string> command;
  std::string output;
  std::string kept_log;
  std::string log;  // Instead of a command.
  uint64_t findings_max = 20;
  std::vector<std::string> denied;
  uint64_t window_kib = VerdictOptions().window_bytes >> 10;
  CaptureRequest request;
  ParseOptions parse;
};

constexpr uint64_t kWindowKibMax = 1ull << 40;

// The command that measures what this one bounds; empty where a log does not say which it was,
// where nothing is to be executed, and where it was measured as far as can be.
std::string exact_command_of(const CaptureOptions& options) {
  const CaptureRequest& request = options.request;
  if (options.command.empty() || request.is_dry || request.is_exact) return "";
  std::string text = "interlock capture --exact";
  if (request.dropped_barrier) text += fmt::format(" --drop-barrier={}", *request.dropped_barrier);
  if (!request.pretended.empty()) text += " --pretend=" + shell_word(request.pretended);
  if (!options.output.empty()) text += " -o " + path_word(options.output);
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

// Copies rather than moves: the two may be on different file systems.
bool keep_log(const std::string& log, const std::string& kept) {
  std::error_code error;
  std::filesystem::copy_file(log, kept, std::filesystem::copy_options::overwrite_existing, error);
  if (error) report_error(error_of("{}: {}.", kept, error.message()));
  return !error;
}

// Of the process whose log is number `index`.
VerdictOptions verdict_options(const CaptureOptions& options, size_t index) {
  VerdictOptions wanted;
  wanted.output = path_of_process(options.output, index);
  wanted.window_bytes = options.window_kib << 10;
  wanted.exact_command = exact_command_of(options);
  wanted.counts_own_reads = !options.denied.empty();
  wanted.findings_max = options.findings_max;
  wanted.parse = options.parse;
  return wanted;
}

// Of processes that submitted nothing: where another was judged, a note; else all there is to say.
ExitStatus tell_idle(const std::vector<LogVerdict>& idle, bool is_any_judged) {
  for (const LogVerdict& verdict : idle) {
    print_out(is_any_judged
                  ? fmt::format("note: another process, {}, submitted nothing.\n", verdict.process)
                  : verdict.text);
  }
  return idle.empty() || is_any_judged ? ExitStatus::kNothingFound : ExitStatus::kNoVerdict;
}

ExitStatus judge_logs(const std::vector<std::string>& logs, const CaptureOptions& options) {
  ExitStatus status = ExitStatus::kNothingFound;
  std::vector<LogVerdict> idle;
  for (size_t i = 0; i < logs.size(); ++i) {
    if (!options.kept_log.empty() && !keep_log(logs[i], path_of_process(options.kept_log, i))) {
      status = worse(status, ExitStatus::kBadInput);
    }
    LogVerdict verdict = judge_log(logs[i], verdict_options(options, i));
    if (verdict.is_idle) {
      idle.push_back(std::move(verdict));
    } else {
      status = worse(status, verdict.status);
    }
  }
  return worse(status, tell_idle(idle, idle.size() < logs.size()));
}

ExitStatus judge_run(const CapturedRun& run, const CaptureOptions& options) {
  const Interruptible interruptible;
  if (run.exit_status != 0) {
    print_remark(
        fmt::format("'{}' ended with status {}.\n", options.command.front(), run.exit_status));
  }
  if (run.logs.empty()) {
    return report_error(
        error_of("'{}' created no Vulkan instance that loads layers{}.", options.command.front(),
                 std::getenv("VK_ICD_FILENAMES") == nullptr
                     ? ""
                     : "; some applications open the driver themselves where VK_ICD_FILENAMES is "
                       "set, as it is here"));
  }
  ExitStatus status = judge_logs(run.logs, options);
  if (run.has_unfinished) {
    print_out("No verdict on the rest: a process still runs, and appends to its log.\n");
    if (status == ExitStatus::kNothingFound) status = ExitStatus::kNoVerdict;
  }
  return status;
}

ExitStatus run_and_judge(const std::string& folder, const CaptureOptions& options) {
  const Result<std::string> layer = find_layer_folder();
  if (!layer) return report_error(layer.error());
  const Result<CapturedRun> run = run_captured(options.command, *layer, folder, options.request);
  if (!run) return report_error(run.error());
  return judge_run(*run, options);
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
  if (!options.log.empty()) {
    const Interruptible interruptible;
    return judge_logs({options.log}, options);
  }
  const Result<std::string> folder = make_temporary_folder();
  if (!folder) return report_error(folder.error());
  const ExitStatus status = run_and_judge(*folder, options);
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
  command.add_option("-o,--output", options.output, "where the program goes (.ilk)")
      ->check(writable_path());
  command.add_option("--keep-log", options.kept_log, "where a copy of the log goes")
      ->check(writable_path());
  command.add_option("--log", options.log, "a log that was kept, instead of a command");
  add_number(command, "--window-kib", options.window_kib,
             "a program of more text than this is judged in windows, which end where the host has "
             "waited for all that was submitted; 0: at each such place",
             0, kWindowKibMax);
  add_number(command, "--max-findings", options.findings_max,
             "findings told in full, one of each pair of commands; 0: all of all");
  command
      .add_option("--deny", options.denied,
                  "what counts as a finding, too: own-read, for hazards after own reads")
      ->check(one_of({"own-read"}));
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
