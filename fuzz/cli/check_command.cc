// interlock check: the exact verdicts on one or more programs.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/report.h"

namespace interlock {
namespace {

constexpr uint64_t kRedundantShown = 20;  // Without --all.

struct CheckCommandOptions {
  std::vector<std::string> paths;
  ParseOptions parse;
  CheckOptions check;
  std::string format = "text";
  uint64_t findings_max = 100;
  std::vector<std::string> denied;
  bool has_certificate = false;
};

std::string text_of(const ExpectationOutcome& outcome) {
  std::string text;
  for (const SubjectOutcome& subject : outcome.subjects) {
    for (const std::string& line : subject.held) {
      text += fmt::format("  holds: {}\n", line);
    }
    const std::string of = subject.encoder.empty() ? "" : " (encoder " + subject.encoder + ")";
    for (const std::string& failure : subject.failures) {
      text += fmt::format("  FAILS{}: {}\n", of, failure);
    }
    for (const std::string& sentence : subject.unjudged) {
      text += fmt::format("  NO VERDICT{}: {}\n", of, sentence);
    }
  }
  return text;
}

TextLimits text_limits_of(const CheckCommandOptions& options) {
  TextLimits limits;
  if (options.findings_max != 0) limits.findings = options.findings_max;
  if (!options.check.lists_all_pairs) limits.redundant = kRedundantShown;
  limits.has_certificate = options.has_certificate;
  return limits;
}

// Without a verdict nothing must pass, not even what is as expected so far.
ExitStatus status_of(const Program& program, const CheckReport& report,
                     const ExpectationOutcome& outcome, bool denies_redundancy) {
  const Verdict verdict = verdict_of(program, report, outcome);
  const bool is_denied = denies_redundancy && (!unexpected_redundancy(program, report).empty() ||
                                               !unexpected_redundant_sync(program, report).empty());
  if (verdict == Verdict::kUnexpected || is_denied) return ExitStatus::kFinding;
  const uint64_t unjudged_count = report.unjudged_barrier_count + report.unjudged_sync_count;
  const bool is_denial_open = denies_redundancy && unjudged_count > 0;
  const bool is_open = verdict == Verdict::kNone || is_denial_open;
  return is_open ? ExitStatus::kNoVerdict : ExitStatus::kNothingFound;
}

ExitStatus check_one(const std::string& path, const CheckCommandOptions& options) {
  const Result<Program> program = parse_file(path, options.parse);
  if (!program) {
    return report_error(program.error());
  }
  const CheckReport report = check(*program, options.check);
  if (is_stopped()) return ExitStatus::kInterrupted;
  const ExpectationOutcome outcome = judge_expectations(*program, report);
  if (is_stopped()) return ExitStatus::kInterrupted;
  if (options.format == "json") {
    print_out(json_report(*program, report, outcome, path));
  } else {
    print_report(text_report(*program, report, path, text_limits_of(options)));
    if (!options.check.lists_all_pairs && report.redundant.size() > kRedundantShown) {
      print_out("  (--all prints every redundant barrier.)\n");
    }
    if (!options.check.lists_all_pairs && report.redundant_sync.size() > kRedundantShown) {
      print_out("  (--all prints every redundant piece of sync.)\n");
    }
    if (options.findings_max != 0 && report.findings.size() > options.findings_max) {
      print_out("  (--max-findings=0 prints them all.)\n");
    }
    print_report(text_of(outcome));
  }
  return status_of(*program, report, outcome, !options.denied.empty());
}

ExitStatus run_check(const CheckCommandOptions& options) {
  const Interruptible interruptible;
  ExitStatus status = ExitStatus::kNothingFound;
  for (const std::string& path : options.paths) {
    status = worse(status, check_one(path, options));
  }
  return status;
}

}  // namespace

void add_check_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<CheckCommandOptions>(
      app, status, "check", "says exactly what is unordered, and why", run_check);
  command.add_option("files", options.paths, "program texts (.ilk); - is standard input")
      ->required();
  command.add_flag(
      "--all", options.check.lists_all_pairs,
      "every hazardous pair, not only the latest accesses of the bytes, and all redundant sync");
  command
      .add_option("--deny", options.denied,
                  "advice that counts as a finding: redundant, for sync that can go")
      ->check(CLI::IsMember({"redundant"}));
  command.add_flag("--certificate", options.has_certificate,
                   "the conflicts that prove the fewest barriers");
  command.add_option("--format", options.format, "text, or json: one object a line for each file")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  add_number(command, "--max-findings", options.findings_max,
             "findings that the text prints in full; 0 prints all");
  add_limit_options(command, options.parse);
  read_every_queue(options.parse);
}

}  // namespace interlock
