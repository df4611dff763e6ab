#include "fuzz/cli/captured_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/convert/windows.h"
#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "encoder/text/files.h"
#include "fuzz/cli/agreement.h"
#include "fuzz/cli/captured_advice.h"
#include "fuzz/cli/captured_files.h"
#include "fuzz/cli/captured_origins.h"
#include "fuzz/cli/command_pairs.h"
#include "fuzz/cli/input.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/report/check.h"
#include "simulator/report/report.h"

namespace interlock {
namespace {

constexpr size_t kNamesShown = 8;    // Of what was not understood, in the last line.
constexpr size_t kWindowsShown = 8;  // That have findings.

// In a window, of the search for sync that can go.
constexpr uint64_t kVisitsPerWindow = 100'000;
constexpr uint64_t kVisitsPerStatement = 32;

// Whether a barrier was to be left out that never came.
bool lacks_barrier(const CaptureSummary& summary) {
  return summary.options.drops_barrier != 0 && !summary.has_dropped_barrier;
}

// "1 pair", "2 pairs".
std::string text_of_count(uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string text_of_findings(uint64_t count) {
  return count == 1 ? "1 finding is" : fmt::format("{} findings are", count);
}

// Which findings need not be.
std::string text_of_possible(const CheckReport& report, const CaptureSummary& summary,
                             const std::string& shown, const std::string& exact_command) {
  const auto count =
      static_cast<uint64_t>(std::ranges::count(report.findings, true, &Finding::is_possible));
  if (count == 0) return {};
  std::string text = fmt::format(
      "{} of {} possible, and need not be: what is approximate may touch less. `interlock check "
      "--possible {}` counts the same.\n",
      count, text_of_findings(report.findings.size()), shown);
  if (!summary.is_exact && !exact_command.empty()) {
    text += fmt::format("What is touched decides{}: {}\n",
                        summary.addressed_count == 0 ? "" : ", but for addresses of buffers",
                        exact_command);
  }
  return text;
}

// What nothing is known of.
std::string text_of_doubts(uint64_t finding_count, const CaptureSummary& summary) {
  std::string text;
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

// Judges the windows of one log.
class WindowJudge {
 public:
  explicit WindowJudge(const VerdictOptions& options) : options_(options) {}

  // Errors: the window is no program, or cannot be written.
  Result<Success> take(CapturedWindow window, const CaptureSummary& summary) {
    is_whole_ = window.is_only();
    if (is_idle(summary)) return Success{};
    if (!has_begun_) remove_earlier_captures(options_.output);
    has_begun_ = true;
    if (is_whole_) print_out(text_of(summary));
    const std::string path =
        is_whole_ ? options_.output : path_of_window(options_.output, window.number);
    const std::string shown = path.empty() ? "FILE" : path;
    if (is_whole_ && !path.empty()) {
      write(path, window.text);
    }
    const Result<Program> program = parse(window.text, shown, options_.parse);
    if (!program) return program.error();
    if (is_whole_ || path.empty()) std::string().swap(window.text);
    CheckOptions check_options;
    check_options.counts_possible = true;
    check_options.counts_own_reads = options_.counts_own_reads;
    if (!is_whole_) {
      // What all windows take together grows with the program, and no faster.
      check_options.redundancy_budget =
          std::min(check_options.redundancy_budget,
                   kVisitsPerWindow + kVisitsPerStatement * program->statements.size());
    }
    CheckReport report = check(*program, check_options);
    if (is_stopped()) return Error{"the check was stopped."};
    set_joint_advice(*program, summary, check_options.redundancy_budget, report);
    if (is_stopped()) return Error{"the check was stopped."};
    const AdviceForHost for_host = take_advice_for_host(*program, summary, report);
    for_host_.wait_count += for_host.wait_count;
    for_host_.barrier_count += for_host.barrier_count;
    joint_.add(*report.joint);
    ++window_count_;
    finding_count_ += report.findings.size();
    redundant_count_ += report.redundant.size() + report.redundant_sync.size();
    unjudged_count_ += report.unjudged_barrier_count + report.unjudged_sync_count;
    is_truncated_ = is_truncated_ || report.is_truncated();
    const bool is_telling =
        !report.findings.empty() || !report.noted.empty() || report.is_truncated();
    if (!is_whole_ && !is_telling && summary.options.is_validated == 0) return Success{};
    if (!report.findings.empty()) found_in_.push_back(window.number);
    if (!is_whole_) {
      print_out(fmt::format("window {}, submissions {} to {}:\n", window.number,
                            window.first_submission, window.last_submission));
    }
    const uint64_t pair_count = put_pairs_first(*program, report);
    tell(*program, report, pair_count, summary, shown_word(shown));
    if (!is_whole_ && !path.empty() && !report.findings.empty()) write(path, window.text);
    return Success{};
  }

  // What is to be said at the end, and the status.
  ExitStatus end(const CaptureSummary& summary) const {
    const ExitStatus status = end_of_judged(summary);
    return is_unwritten_ ? worse(status, ExitStatus::kBadInput) : status;
  }

  // Of what was judged before the log could not be read on.
  void tell_so_far() const {
    if (window_count_ > 0) print_out("Before the error: " + text_of_windows());
  }

  // True iff nothing was submitted, for sure.
  static bool is_idle(const CaptureSummary& summary) {
    return summary.submission_count == 0 && summary.cut.empty() && summary.not_understood.empty();
  }

 private:
  ExitStatus end_of_judged(const CaptureSummary& summary) const {
    if (!is_whole_) print_out(text_of(summary) + text_of_windows() + for_host_.text());
    print_out(text_of_doubts(finding_count_, summary));
    if (finding_count_ > 0) {
      if (options_.output.empty()) {
        print_remark(
            "-o FILE keeps the program, to be minimized (with --possible) and replayed.\n");
      }
      return ExitStatus::kFinding;
    }
    // Of what was not understood nothing is known: so that it is clean cannot be said.
    const bool is_open = is_truncated_ || !summary.not_understood.empty() || !summary.cut.empty() ||
                         summary.submission_count == 0 || lacks_barrier(summary);
    return is_open ? ExitStatus::kNoVerdict : ExitStatus::kNothingFound;
  }

  // What cannot be written is judged all the same.
  void write(const std::string& path, const std::string& text) {
    const Result<Success> written = write_file(path, text);
    if (written) return;
    is_unwritten_ = true;
    report_error(written.error());
  }

  // `pair_count`: how many findings stand first, each between other commands.
  void tell(const Program& program, const CheckReport& report, uint64_t pair_count,
            const CaptureSummary& summary, const std::string& shown) const {
    TextLimits limits;
    limits.redundant = 0;
    const uint64_t count = report.findings.size();
    if (options_.findings_max != 0) {
      limits.findings = options_.findings_max;
      if (pair_count < count) limits.findings = std::min(limits.findings, pair_count);
    }
    if (is_whole_) print_out(for_host_.text());
    print_report(text_report(program, report, shown, limits));
    if (count > pair_count) {
      print_out(fmt::format("{} are between {} of commands, each told once.\n",
                            text_of_count(count, "finding"), text_of_count(pair_count, "pair")));
    }
    if (count > limits.findings) print_out("  (--max-findings=0 prints them all.)\n");
    if (!report.redundant.empty() || !report.redundant_sync.empty()) {
      print_out(fmt::format("What can go, and why: interlock check --advice {}\n", shown));
    }
    print_out(text_of_origins(program, report, summary));
    print_out(text_of_agreement(program, report, summary));
    print_out(text_of_possible(report, summary, shown, options_.exact_command));
  }

  std::string text_of_windows() const {
    std::string text = fmt::format(
        "{} windows, each judged by itself, from one place to the next at which the host had waited "
        "for all that was submitted: ",
        window_count_);
    if (found_in_.empty()) {
      text += "no findings";
    } else {
      const std::vector<uint64_t> shown(
          found_in_.begin(),
          found_in_.begin() + static_cast<ptrdiff_t>(std::min(found_in_.size(), kWindowsShown)));
      text += fmt::format(
          "{} in {} of them ({}{})",
          finding_count_ == 1 ? "1 finding" : fmt::format("{} findings", finding_count_),
          found_in_.size(), fmt::join(shown, ", "), shown.size() < found_in_.size() ? ", …" : "");
    }
    text += ".\n";
    const auto pieces_of = [](uint64_t count) {
      return fmt::format("{} {} of sync", count, count == 1 ? "piece" : "pieces");
    };
    if (redundant_count_ > 0) {
      text += fmt::format("{} can go, each within its window: the windows added up.\n",
                          pieces_of(redundant_count_));
    }
    text += text_of(joint_);
    if (unjudged_count_ > 0) {
      text +=
          fmt::format("Of {} it is not judged whether they can go.\n", pieces_of(unjudged_count_));
    }
    return text;
  }

  const VerdictOptions& options_;
  bool has_begun_ = false;
  bool is_whole_ = true;
  uint64_t window_count_ = 0;
  uint64_t finding_count_ = 0;
  uint64_t redundant_count_ = 0;
  uint64_t unjudged_count_ = 0;
  AdviceForHost for_host_;
  JointCounts joint_;
  bool is_unwritten_ = false;  // A file could not be written.
  bool is_truncated_ = false;
  std::vector<uint64_t> found_in_;
};

}  // namespace

LogVerdict judge_log(const std::string& log, const VerdictOptions& options) {
  LogVerdict verdict;
  std::ifstream input(log, std::ios::binary);
  if (!input) {
    verdict.status = report_error(error_of("{} cannot be read.", log));
    return verdict;
  }
  WindowJudge judge(options);
  const auto take = [&](CapturedWindow window, const CaptureSummary& summary) {
    return judge.take(std::move(window), summary);
  };
  const Result<CaptureSummary> summary =
      convert_log_in_windows(input, log, options.window_bytes, take, options.parse.limits);
  if (!summary) {
    judge.tell_so_far();
    verdict.status = report_error(summary.error());
    return verdict;
  }
  verdict.process = summary->command;
  verdict.is_idle = WindowJudge::is_idle(*summary);
  if (verdict.is_idle) {
    verdict.status = ExitStatus::kNoVerdict;
    verdict.text = text_of(*summary) + text_of_doubts(0, *summary);
  } else {
    verdict.status = judge.end(*summary);
  }
  return verdict;
}

}  // namespace interlock
