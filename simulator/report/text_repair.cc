#include "simulator/report/text_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "encoder/text/printer.h"
#include "encoder/text/text_lines.h"
#include "simulator/facts/fact.h"
#include "simulator/lifetimes/truncation.h"
#include "simulator/order/queue_order.h"
#include "simulator/report/added_barriers.h"
#include "simulator/report/check.h"
#include "simulator/report/expectation_update.h"
#include "simulator/report/expectations.h"
#include "simulator/report/repair.h"
#include "simulator/report/repaired_lines.h"

namespace interlock {
namespace {

constexpr size_t kChangesMax = 1000;
constexpr size_t kTriesMax = 300;  // Of texts without a part of the change.
constexpr uint64_t kRepairWork = CheckOptions{}.repair_budget;

bool is_of_hazard(const Finding& finding) { return is_hazard(finding.kind); }

bool is_of_deadlock(const Finding& finding) { return finding.kind == FindingKind::kDeadlock; }

bool is_of_destroy(const Finding& finding) { return finding.pending_at.is_some(); }

uint64_t count_hazards(const CheckReport& report) {
  return static_cast<uint64_t>(std::ranges::count_if(report.findings, is_of_hazard));
}

uint64_t count_destroys(const CheckReport& report) {
  return static_cast<uint64_t>(std::ranges::count_if(report.findings, is_of_destroy));
}

// What the changes of sync are for that are made one after another.
uint64_t count_repairable(const CheckReport& report) {
  return count_hazards(report) + count_destroys(report);
}

// Repairs add no dispatch, so that numbers stay.
using CountedHazard = std::tuple<FindingKind, DispatchId, DispatchId>;

// Requires: a hazard.
CountedHazard pair_of(const Finding& finding) {
  return {finding.kind, finding.first.dispatch, finding.second->dispatch};
}

bool has_deadlock(const CheckReport& report) {
  return std::ranges::any_of(report.findings, is_of_deadlock);
}

// Nothing that sync repairs.
bool is_in_order(const CheckReport& report) {
  return count_repairable(report) == 0 && !has_deadlock(report);
}

// Lists of other findings may end early: hazards are looked for all the same.
bool is_about_hazards(const Truncation& truncation) {
  return truncation.cause != TruncationCause::kAliases &&
         truncation.cause != TruncationCause::kLifetimeFindings;
}

bool has_all_hazards(const CheckReport& report) {
  return std::ranges::none_of(report.truncations, is_about_hazards);
}

// There are more hazards than those that are listed, and nothing else is unknown about them.
bool lists_some(const CheckReport& report) {
  return count_hazards(report) > 0 && !has_all_hazards(report) &&
         std::ranges::all_of(report.truncations, [](const Truncation& truncation) {
           return truncation.cause == TruncationCause::kHazards || !is_about_hazards(truncation);
         });
}

// Without blanks before it and a comment after it.
std::string_view content_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

// One that may name what goes.
bool expects_deadlock(std::string_view line) {
  line = content_of(line);
  return line.starts_with("expect") && line.find("deadlock") != std::string_view::npos;
}

// An expectation or a witness that names a statement by its number, "@3".
bool has_number_of_statement(std::string_view line) {
  line = content_of(line);
  if (!line.starts_with("expect") && !line.starts_with("witness")) return false;
  return line.find(" @") != std::string_view::npos || line.find("\t@") != std::string_view::npos;
}

class TextRepairSearch {
 public:
  TextRepairSearch(std::string_view text, std::string_view file_name, const ParseOptions& options,
                   const TextRepairOptions& repair_options)
      : file_name_(file_name), options_(options), repair_options_(repair_options), lines_(text) {
    options_.statement_lines = &statement_lines_;
  }

  Result<TextRepair> run() {
    Result<Program> program = read();
    if (!program) return program.error();
    if (has_recordings(*program) && !keeps_recordings_) {
      if (std::optional<TextRepair> around = repair_around(*program)) return std::move(*around);
      program = spell_out(std::move(*program));
      if (!program) return program.error();
    }
    result_.before = lines_.text();
    const CheckReport before = find_hazards_of(*program);
    count(before);
    goes_by_rounds_ = !needs_queue_order(*program);
    if (const std::optional<Error> error = error_of_verdict(before)) return *error;
    result_.hazard_count_before = count_hazards(before);
    result_.destroy_count_before = count_destroys(before);
    result_.has_deadlock_before = has_deadlock(before);
    if (!is_in_order(before) && forget_lines()) {
      program = read();
      if (!program) return program.error();
    }
    result_.counts_all_before = has_all_hazards(before);
    const Result<CheckReport> report =
        goes_by_rounds_ ? repair_at_once(*program, before) : repair_one_by_one(before);
    if (!report) return report.error();
    result_.hazard_count = count_hazards(*report);
    result_.destroy_count = count_destroys(*report);
    result_.has_deadlock = has_deadlock(*report);
    return finish();
  }

 private:
  // Hazards, and nothing about them. One that counted in a text before counts, too, where a change
  // has left it after own read: the words that let it see what it reads say nothing of its write.
  CheckReport find_hazards_of(const Program& program) const {
    CheckReport report = check(program, {.counts_own_reads = repair_options_.counts_own_reads,
                                         .pair_limit = repair_options_.hazard_limit,
                                         .observability_budget = 0,
                                         .redundancy_budget = 0,
                                         .repair_budget = 0});
    for (const Finding& finding : report.noted) {
      if (!finding.is_after_own_read) continue;  // Merely possible: that counts for nobody here.
      if (counted_.contains(pair_of(finding))) report.findings.push_back(finding);
    }
    return report;
  }

  void count(const CheckReport& report) {
    for (const Finding& finding : report.findings) {
      if (is_of_hazard(finding)) counted_.insert(pair_of(finding));
    }
  }

  Result<Program> read() {
    statement_lines_.clear();
    return parse(lines_.text(), file_name_, options_);
  }

  // There are other statements soon, so that a number would be another one's, and what a deadlock
  // names may go. Returns whether a line had some of these.
  bool forget_lines() {
    std::string kept;
    for (std::string_view text = result_.before; !text.empty();) {
      const std::string_view line = take_line(text);
      const bool is_of_deadlock = result_.has_deadlock_before && expects_deadlock(line);
      if (!is_of_deadlock && !has_number_of_statement(line)) kept += line;
      expected_deadlock_ = expected_deadlock_ || is_of_deadlock;
    }
    if (kept.size() == result_.before.size()) return false;
    lines_ = RepairedLines(kept);
    return true;
  }

  // One queue: barriers, until none is missing. Where a limit ends the list of hazards it has all
  // up to a dispatch, so that what is placed for them is among the fewest for the whole program.
  Result<CheckReport> repair_at_once(Program program, CheckReport report) {
    const bool has_scopes = !program.barriers.empty() &&
                            std::ranges::all_of(program.barriers, [](const Barrier& barrier) {
                              return barrier.kind == BarrierKind::kScoped;
                            });
    // Scopes are those of the pairs that are listed: they may not be enough for the others.
    AddedBarriers added =
        has_scopes && has_all_hazards(report) ? AddedBarriers::kScoped : AddedBarriers::kGlobal;
    const RepairedLines unchanged = lines_;
    while (count_repairable(report) > 0) {
      const auto change = find_barriers_to_add(program, report.findings, added);
      if (change.empty()) break;
      lines_.apply(change, statement_lines_);
      Result<CheckReport> changed = check_lines(program);
      if (!changed) return changed.error();
      if (count_repairable(*changed) > 0 && added == AddedBarriers::kScoped) {
        lines_ = unchanged;
        added = AddedBarriers::kGlobal;
        changed = check_lines(program);
        if (!changed) return changed.error();
      }
      report = std::move(*changed);
    }
    if (!has_all_hazards(report)) return no_verdict(report);
    return report;
  }

  // What reports name, one after another.
  Result<CheckReport> repair_one_by_one(CheckReport report) {
    Result<Program> program = read();
    while (program && !is_in_order(report) && lines_.change_count() < kChangesMax) {
      const std::vector<RepairLine> change = find_one_repair(*program, report.findings);
      if (change.empty() || (keeps_recordings_ && !keeps_replays(change))) break;
      lines_.apply(change, statement_lines_);
      Result<CheckReport> changed = check_lines(*program);
      if (!changed) return changed.error();
      const bool is_better = count_repairable(*changed) < count_repairable(report) ||
                             (has_deadlock(report) && !has_deadlock(*changed));
      report = std::move(*changed);
      // What was to stand among the statements of a replay stands beside it.
      if (keeps_recordings_ && !is_better) break;
    }
    if (!program) return program.error();
    if (!has_deadlock(report)) take_back(report.findings.size(), count_repairable(report));
    return report;
  }

  // `program` is made that of the lines.
  Result<CheckReport> check_lines(Program& program) {
    Result<Program> changed = read();
    if (!changed) return changed.error();
    program = std::move(*changed);
    CheckReport report = find_hazards_of(program);
    count(report);
    if (const std::optional<Error> error = error_of_verdict(report)) return *error;
    return report;
  }

  // Whose statements stand in no line of their own.
  static bool has_recordings(const Program& program) {
    return !program.captures.empty() || !program.replays.empty() || !program.backwards.empty();
  }

  // With several queues: changes that stand before and after what replays execute, if these are
  // enough. None if something within has to change.
  std::optional<TextRepair> repair_around(const Program& program) const {
    if (!needs_queue_order(program) || !program.backwards.empty()) return std::nullopt;
    TextRepairSearch around(lines_.text(), file_name_, options_, repair_options_);
    around.keeps_recordings_ = true;
    Result<TextRepair> repair = around.run();
    const bool is_enough =
        repair && repair->hazard_count + repair->destroy_count == 0 && !repair->has_deadlock;
    return is_enough ? std::optional(std::move(*repair)) : std::nullopt;
  }

  // No line of the change takes the place of one that stands for several statements: a replay.
  bool keeps_replays(std::span<const RepairLine> change) const {
    return std::ranges::all_of(change, [this](const RepairLine& line) {
      return line.place != RepairPlace::kInstead ||
             std::ranges::count(statement_lines_, statement_lines_[line.at.index]) == 1;
    });
  }

  // Where nothing is wrong, the text stays as it is.
  Result<Program> spell_out(Program program) {
    const CheckReport report = find_hazards_of(program);
    if (is_in_order(report)) return program;
    program.captures.clear();
    program.replays.clear();
    program.backwards.clear();
    lines_ = RepairedLines(print(program));
    result_.is_spelled_out = true;
    return read();
  }

  std::optional<Error> error_of_verdict(const CheckReport& report) const {
    if (is_stopped()) return Error{"The repair was stopped."};
    if (has_all_hazards(report) || (goes_by_rounds_ && lists_some(report))) return std::nullopt;
    return no_verdict(report);
  }

  static Error no_verdict(const CheckReport& report) {
    return {fmt::format("no verdict on all of the program, so that it cannot be repaired: {}.",
                        text_of(report.truncations))};
  }

  // Of the deadlock, or of the first hazard or destroy that has one.
  static std::vector<RepairLine> find_one_repair(const Program& program,
                                                 const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      const bool is_one =
          is_of_hazard(finding) || is_of_deadlock(finding) || is_of_destroy(finding);
      if (!is_one || is_stopped()) continue;
      std::vector<Finding> one = {finding};
      find_repairs(program, kRepairWork, one);
      if (!one.front().repair.empty()) return one.front().repair;
    }
    return {};
  }

  // Later changes may make earlier ones useless; first those that were made at once, as a wait
  // needs its signal. What goes may let another line go: the signal that was waited for.
  // `finding_count`: of the repaired program, which no sync repairs; `pair_count`: among these
  // those for which no change was found.
  void take_back(size_t finding_count, uint64_t pair_count) {
    size_t try_count = 0;
    for (bool has_gone = true; has_gone;) {
      has_gone = false;
      for (const RepairedLines::Change& change : lines_.changes()) {
        if (is_stopped()) return;
        if (++try_count > kTriesMax) {
          result_.is_least = false;
          return;
        }
        const RepairedLines kept = lines_;
        lines_.take_back(change);
        if (lines_.change_count() == kept.change_count()) continue;  // It had gone by then.
        const Result<Program> program = read();
        const bool is_repaired = program && is_repaired_still(*program, finding_count, pair_count);
        if (is_repaired) {
          has_gone = true;
        } else {
          lines_ = kept;
        }
      }
    }
  }

  bool is_repaired_still(const Program& program, size_t finding_count, uint64_t pair_count) const {
    const CheckReport report = find_hazards_of(program);
    return !is_stopped() && has_all_hazards(report) && !has_deadlock(report) &&
           count_repairable(report) <= pair_count && report.findings.size() <= finding_count;
  }

  Result<TextRepair> finish() {
    if (lines_.change_count() == 0) lines_ = RepairedLines(result_.before);
    Result<Program> program = read();
    if (!program) return program.error();
    result_.added_count = lines_.added_count();
    result_.changed_count = lines_.changed_count();
    const bool is_changed = lines_.change_count() > 0;
    if (is_changed && (expected_deadlock_ || !program->expectations.empty())) {
      const CheckReport report = check(*program);
      const ExpectationOutcome outcome = judge_expectations(*program, report);
      if (const std::optional<Error> error = error_of_verdict(report)) return *error;
      if (report.is_truncated()) return no_verdict(report);
      lines_ = RepairedLines(update_expectations(lines_.text(), *program, report, outcome));
      program = read();
      if (!program) return program.error();
    }
    result_.text = lines_.text();
    result_.program = std::move(*program);
    return std::move(result_);
  }

  std::string_view file_name_;
  ParseOptions options_;
  const TextRepairOptions repair_options_;
  std::set<CountedHazard> counted_;  // Hazards that a text on the way had.
  bool keeps_recordings_ = false;    // Replays stay; changes stand around them.
  bool expected_deadlock_ = false;   // In a line that went.
  bool goes_by_rounds_ = false;      // A part of the hazards is enough to go on.
  RepairedLines lines_;
  std::vector<uint64_t> statement_lines_;
  TextRepair result_;
};

}  // namespace

Result<TextRepair> repair_text(std::string_view text, std::string_view file_name,
                               const ParseOptions& options,
                               const TextRepairOptions& repair_options) {
  return TextRepairSearch(text, file_name, options, repair_options).run();
}

}  // namespace interlock
