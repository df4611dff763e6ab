// interlock check: the exact verdicts on one or more programs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/release.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "fuzz/campaign/guide.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/cli/known_files.h"
#include "simulator/report/baseline.h"
#include "simulator/report/check.h"
#include "simulator/report/expectation_update.h"
#include "simulator/report/expectations.h"
#include "simulator/report/joint_advice.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/report.h"
#include "simulator/report/report_sarif.h"
#include "simulator/report/scope_advice.h"

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
  bool has_advice = false;
  bool is_quiet = false;
  bool ignores_expectations = false;
  bool updates_expectations = false;
  KnownOptions known;
};

bool denies(const CheckCommandOptions& options, std::string_view what) {
  return std::ranges::find(options.denied, what) != options.denied.end();
}

bool shows_advice(const CheckCommandOptions& options) {
  return options.has_advice || options.check.lists_all_pairs || denies(options, "redundant");
}

// It stands in the text and in JSON, and not in the line of a file.
bool shows_scope_advice(const CheckCommandOptions& options) {
  if (!options.has_advice || options.updates_expectations) return false;
  return options.format == "json" || (options.format == "text" && !options.is_quiet);
}

// Lines that hold are left out where they are not wanted.
std::string text_of(const ExpectationOutcome& outcome, bool has_held) {
  std::string text;
  for (const SubjectOutcome& subject : outcome.subjects) {
    if (has_held) {
      for (const std::string& line : subject.held) text += fmt::format("  holds: {}\n", line);
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
  limits.folds_advice = !shows_advice(options);
  limits.has_certificate = options.has_certificate;
  return limits;
}

// Without a verdict nothing must pass, not even what is as expected so far.
ExitStatus status_of(const Program& program, const CheckReport& report,
                     const ExpectationOutcome& outcome,
                     const std::optional<BaselineOutcome>& baseline, bool denies_redundancy) {
  const Verdict verdict = baseline ? verdict_of(program, report, outcome, *baseline)
                                   : verdict_of(program, report, outcome);
  const bool is_denied = denies_redundancy && (!unexpected_redundancy(program, report).empty() ||
                                               !unexpected_redundant_sync(program, report).empty());
  if (verdict == Verdict::kUnexpected || is_denied) return ExitStatus::kFinding;
  const uint64_t unjudged_count = report.unjudged_barrier_count + report.unjudged_sync_count;
  const bool is_denial_open = denies_redundancy && unjudged_count > 0;
  const bool is_open = verdict == Verdict::kNone || is_denial_open;
  return is_open ? ExitStatus::kNoVerdict : ExitStatus::kNothingFound;
}

// What is left out, and the option that prints it.
std::string text_of_options(const CheckReport& report, const TextLimits& limits) {
  std::string text;
  if (!limits.folds_advice && report.redundant.size() > limits.redundant) {
    text += "  (--all prints every redundant barrier.)\n";
  }
  if (!limits.folds_advice && report.redundant_sync.size() > limits.redundant) {
    text += "  (--all prints every redundant piece of sync.)\n";
  }
  if (report.findings.size() > limits.findings) {
    text += "  (--max-findings=0 prints them all.)\n";
  }
  return text;
}

// Lines that fail may be those of a fault that was repaired, or of a file that says less than is
// so.
std::string text_of_repair(const std::string& path, const CheckReport& report,
                           const ExpectationOutcome& outcome) {
  const auto has_failed = [](const SubjectOutcome& subject) { return !subject.failures.empty(); };
  if (path == "-" || std::ranges::none_of(outcome.subjects, has_failed)) return {};
  const bool is_repaired =
      report.findings.empty() && std::ranges::any_of(outcome.subjects, [&](const auto& subject) {
        return subject.encoder.empty() && has_failed(subject);
      });
  return fmt::format("  {} write it down: interlock check --update-expect {}\n",
                     is_repaired ? "What it expects is not there: if it was repaired,"
                                 : "If what is found is right now,",
                     shown_word(path));
}

std::string text_of_picture(const std::string& path, const CheckReport& report) {
  if (path == "-" || report.findings.empty()) return {};
  return fmt::format("Picture: interlock show {}\n", shown_word(path));
}

// The file, its verdict, and what is not as expected.
std::string short_text_of(const std::string& path, const CheckReport& report,
                          const ExpectationOutcome& outcome, uint64_t known_count) {
  return fmt::format("{}: {}\n", path, summary_of(report, known_count)) + text_of(outcome, false);
}

// What is new, and then the rest, a line each: what is known is nobody's concern today.
struct NewAlone {
  CheckReport report;
  ExpectationOutcome outcome;
  std::string rest;
  uint64_t known_count = 0;
};

NewAlone new_alone(const CheckReport& report, const ExpectationOutcome& outcome,
                   const BaselineOutcome& baseline) {
  NewAlone result{report, outcome, "", 0};
  result.report.findings.clear();
  std::set<std::string> known;
  for (size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& finding = report.findings[i];
    if (!baseline.is_known[i]) {
      result.report.findings.push_back(finding);
      continue;
    }
    ++result.known_count;
    known.insert("Not expected: " + finding.headline);
    result.rest += fmt::format("  known: {}\n", finding.headline);
  }
  for (SubjectOutcome& subject : result.outcome.subjects) {
    const auto is_known = [&](const std::string& failure) { return known.contains(failure); };
    if (subject.encoder.empty()) std::erase_if(subject.failures, is_known);
  }
  for (const auto& [identity, count] : baseline.stale) {
    result.rest += fmt::format("  stale: the baseline knows {} more of: {}\n", count, identity);
  }
  return result;
}

std::string text_of(const KnownFiles::BudgetOutcome& budget) {
  if (!budget.failure.empty()) return fmt::format("  FAILS: {}\n", budget.failure);
  return budget.note.empty() ? "" : fmt::format("  note: {}\n", budget.note);
}

std::string text_of_file(const std::string& path, const Program& program, const NewAlone& shown,
                         const CheckCommandOptions& options) {
  if (options.is_quiet) {
    return short_text_of(path, shown.report, shown.outcome, shown.known_count) + shown.rest;
  }
  TextLimits limits = text_limits_of(options);
  limits.known_findings = shown.known_count;
  return text_report(program, shown.report, shown_word(path), limits) +
         text_of_options(shown.report, limits) + shown.rest + text_of(shown.outcome, true) +
         text_of_repair(path, shown.report, shown.outcome) + text_of_picture(path, shown.report);
}

// Without a verdict there is nothing to write down.
ExitStatus update_file(const std::string& path, const std::string& text, const Program& program,
                       const CheckReport& report, const ExpectationOutcome& outcome) {
  const auto is_open = [](const SubjectOutcome& subject) { return !subject.unjudged.empty(); };
  if (report.is_truncated() || std::ranges::any_of(outcome.subjects, is_open)) {
    return report_error(
        {fmt::format("{} is left as it is: there is no verdict on all of it.", path)});
  }
  const std::string updated = update_expectations(text, program, report, outcome);
  const bool is_stream = path == "-";
  if (updated == text && !is_stream) return ExitStatus::kNothingFound;
  const ExitStatus status = write_output(path, updated, ExitStatus::kNothingFound);
  const bool is_written = status == ExitStatus::kNothingFound && !is_stream;
  if (is_written) print_out(fmt::format("{} is updated.\n", path));
  return status;
}

// `text` is set, if there is one: it is needed after the program is made of it.
Result<Program> read_program(const std::string& path, const ParseOptions& options,
                             std::string* text) {
  if (text == nullptr) return parse_file(path, options);
  Result<std::string> content = read_file(path, options.limits);
  if (!content) return content.error();
  *text = std::move(*content);
  return parse(*text, path == "-" ? "<stdin>" : path, options);
}

// `log` is told, in place of standard output, if there is one.
ExitStatus check_one(const std::string& path, const CheckCommandOptions& options, KnownFiles& known,
                     SarifLog* log) {
  std::string text;
  std::vector<uint64_t> lines;
  ParseOptions parse_options = options.parse;
  if (log != nullptr) parse_options.statement_lines = &lines;
  Result<Program> program =
      read_program(path, parse_options, options.updates_expectations ? &text : nullptr);
  if (!program) {
    known.leave_open();
    if (log != nullptr) log->add_error(path, program.error().message);
    return report_error(program.error());
  }
  if (options.ignores_expectations) program->expectations.clear();
  CheckReport report = check(*program, options.check);
  if (is_stopped()) return ExitStatus::kInterrupted;
  std::optional<ScopeAdvice> scopes;
  if (options.has_advice) {
    report.joint =
        find_joint_advice(*program, report, {.work_limit = options.check.redundancy_budget});
    if (shows_scope_advice(options)) {
      scopes = find_scope_advice(*program, report, options.check.redundancy_budget);
    }
    if (is_stopped()) return ExitStatus::kInterrupted;
  }
  const ExpectationOutcome outcome = judge_expectations(*program, report);
  if (is_stopped()) return ExitStatus::kInterrupted;
  if (options.updates_expectations) return update_file(path, text, *program, report, outcome);
  const std::optional<BaselineOutcome> baseline = known.judge(path, *program, report, outcome);
  const KnownFiles::BudgetOutcome budget = known.judge_barriers(path, report);
  const KnownOfFile of_file{baseline ? &*baseline : nullptr, budget.allowed,
                            scopes ? &*scopes : nullptr};
  if (log != nullptr) {
    log->add(*program, report, outcome, path, lines, shows_advice(options), of_file.baseline);
    if (!budget.failure.empty()) log->add_failure(path, "barrier-budget", budget.failure);
  } else if (options.format == "json") {
    print_out(json_report(*program, report, outcome, path, of_file));
  } else {
    const NewAlone shown =
        baseline ? new_alone(report, outcome, *baseline) : NewAlone{report, outcome, ""};
    const std::string advice =
        scopes ? text_of(*program, *scopes, text_limits_of(options).redundant) : "";
    print_report(advice + text_of_file(path, *program, shown, options) + text_of(budget));
  }
  const ExitStatus status =
      status_of(*program, report, outcome, baseline, denies(options, "redundant"));
  if (status == ExitStatus::kNoVerdict) known.leave_open();
  return budget.failure.empty() ? status : worse(status, ExitStatus::kFinding);
}

// Whether the file is in `parents` of a campaign's folder, which is `folder` or in it. Those were
// given to an encoder: they have no sync, and expect nothing.
bool is_parent_in(const std::filesystem::path& folder, const std::filesystem::path& file) {
  const std::filesystem::path place = file.parent_path();
  const bool is_below = place.native().size() > folder.native().size();
  std::error_code ignored;
  return is_below && place.filename() == kParentsFolder &&
         std::filesystem::exists(journal_path(place.parent_path().string()), ignored);
}

// The programs at all paths, but for those parents; who names their folder gets them.
Result<std::vector<std::string>> checked_files(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    auto files = programs_at({path});
    if (!files) return files;
    const size_t count =
        std::erase_if(*files, [&](const std::string& file) { return is_parent_in(path, file); });
    if (count > 0) {
      print_remark(fmt::format(
          "{} parent{} of a guided campaign in {} {} left out, without sync as they are; name their "
          "folder to check them.\n",
          count, count == 1 ? "" : "s", in_quotes(path), count == 1 ? "is" : "are"));
    }
    if (files->empty()) return error_of("there is nothing else in {}.", in_quotes(path));
    all.insert(all.end(), files->begin(), files->end());
  }
  return all;
}

ExitStatus run_check(CheckCommandOptions options) {
  const Interruptible interruptible;
  options.check.counts_own_reads = denies(options, "own-read");
  ExitStatus status = ExitStatus::kNothingFound;
  const Result<std::vector<std::string>> paths = checked_files(options.paths);
  if (!paths) return report_error(paths.error());
  const bool names_files = paths->size() > 1 && options.format == "text" && !options.is_quiet;
  KnownFiles known(options.known);
  const Result<Success> loaded = known.load();
  if (!loaded) return report_error(loaded.error());
  std::optional<SarifLog> log;
  if (options.format == "sarif") log.emplace(release_text());
  for (const std::string& path : *paths) {
    if (names_files) print_out(path + ":\n");
    status = worse(status, check_one(path, options, known, log ? &*log : nullptr));
    if (is_stopped()) return ExitStatus::kInterrupted;
  }
  if (log) print_out(log->text());
  return worse(status, known.finish());
}

}  // namespace

void add_check_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<CheckCommandOptions>(
      app, status, "check", "says exactly what is unordered, and why", run_check);
  command
      .add_option("files", options.paths,
                  "program texts (.ilk), folders of them; - is standard input")
      ->required();
  command.add_flag(
      "--advice", options.has_advice,
      "each piece of sync that can go, and why; how many of the barriers do; and what would do "
      "in place of `all`");
  command.add_flag("-q,--quiet", options.is_quiet,
                   "a line for each file, and what is not as its lines expect");
  CLI::Option* const ignores =
      command.add_flag("--ignore-expect", options.ignores_expectations,
                       "as if there were no expect lines: 1 if anything is found");
  command
      .add_flag("--update-expect", options.updates_expectations,
                "rewrites the expect lines of the files to what is found, and nothing else")
      ->excludes(ignores);
  command.add_flag(
      "--all", options.check.lists_all_pairs,
      "every hazardous pair, not only the latest accesses of the bytes, and all redundant sync");
  command
      .add_option("--deny", options.denied,
                  "what counts as a finding, too: redundant, for sync that can go; own-read, for "
                  "writes after own reads that no dependency names")
      ->check(one_of({"redundant", "own-read"}));
  command.add_flag("--possible", options.check.counts_possible,
                   "hazards count where approximate dispatches need not touch the bytes");
  command.add_flag("--certificate", options.has_certificate,
                   "the conflicts that prove the fewest barriers, waits or edges");
  command
      .add_option(
          "--format", options.format,
          "text; json: one object a line for each file; sarif: one log of all, for code scanning")
      ->check(one_of({"text", "json", "sarif"}))
      ->capture_default_str();
  add_number(command, "--max-findings", options.findings_max,
             "findings that the text prints in full; 0 prints all");
  add_known_options(command, options.known);
  add_limit_options(command, options.parse);
  read_every_queue(options.parse);
}

}  // namespace interlock
