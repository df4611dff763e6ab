// interlock fix: the sync that a program lacks, as a diff of its text.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "encoder/text/files.h"
#include "encoder/text/gzip.h"
#include "encoder/text/parser.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/cli/patch.h"
#include "fuzz/judge/repair_runs.h"
#include "simulator/facts/fact.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/report/check.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/report.h"
#include "simulator/report/text_repair.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/explore.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/strategy.h"
#include "simulator/schedules/strategy_three.h"

namespace interlock {
namespace {

constexpr uint64_t kWitnessesTried = 20;
constexpr uint64_t kRandomTried = 20;  // On the shadow machine.

struct FixOptions {
  InputOptions input;
  std::string output;  // Empty: a diff.
  std::vector<std::string> denied;
};

struct Shown {
  std::string text;
  bool differs = false;  // A schedule that showed a hazard still does, or another one shows one.
};

std::string counted(uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// What may be a hazard there is none to repair, and shows in schedules.
bool has_bounds(const Program& program) {
  return std::ranges::any_of(program.dispatches, &Dispatch::is_approximate);
}

// Whether a schedule of `run` changes what an output holds, where values are uninterpreted.
bool changes_an_output(const Program& run, const Schedule& schedule) {
  ShadowMachine machine(run);
  const ShadowResult reference =
      machine.run(reference_order_schedule(run), ShadowMode::kObservable);
  return !(machine.run(schedule, ShadowMode::kObservable) == reference);
}

// What showed the first hazards of `before`, beside the order of the repaired program. One that was
// about several bytes, or several hazards, can stay legal for the sake of others, and is harmless
// then.
Shown text_of_witnesses(const CheckReport& before, Program repaired) {
  uint64_t witness_count = 0;
  uint64_t refused_count = 0;
  uint64_t differing_count = 0;
  for (const Finding& finding : before.findings) {
    if (!is_hazard(finding.kind) || finding.witness.empty()) continue;
    if (witness_count == kWitnessesTried || is_stopped()) break;
    ++witness_count;
    repaired.witness = finding.witness;
    const Program run = reference_run(repaired);
    const Result<Schedule> schedule = schedule_of(run, HappensBefore(run), run.witness);
    if (!schedule) {
      ++refused_count;
    } else if (!has_bounds(run) && changes_an_output(run, *schedule)) {
      ++differing_count;
    }
  }
  if (witness_count == 0) return {};
  const uint64_t legal_count = witness_count - refused_count;
  std::string text =
      fmt::format("{} of {} that showed a hazard {} not legal any more", refused_count,
                  counted(witness_count, "schedule"), refused_count == 1 ? "is" : "are");
  if (legal_count > 0 && differing_count == 0 && !has_bounds(repaired)) {
    text += fmt::format("; {} legal, and {} no output now",
                        refused_count == 0 ? (legal_count == 1 ? "it is" : "all are")
                        : legal_count == 1 ? "the other one is"
                                           : "the others are",
                        legal_count == 1 ? "changes" : "change");
  } else if (differing_count > 0) {
    text += fmt::format("; {} of {} {} an output still", differing_count,
                        refused_count == 0 ? "them" : "the others",
                        differing_count == 1 ? "changes" : "change");
  }
  return {text + ".\n", differing_count > 0};
}

// Schedules of the repaired program, on the shadow machine and on the CPU.
Shown text_of_runs(const Program& repaired) {
  if (has_bounds(repaired)) return {};
  const Program run = reference_run(repaired);
  const bool decides = decides_by_three(HappensBefore(run));
  const Exploration exploration =
      explore(run, *find_strategy(decides ? "three" : "random"),
              {.schedule_count = decides ? StrategyOptions{}.schedule_count : kRandomTried});
  std::string text =
      fmt::format("{} of the repaired program tried on the shadow machine; {} {}.\n",
                  counted(exploration.tried.size(), decides ? "schedule" : "random schedule"),
                  exploration.strict_count, exploration.strict_count == 1 ? "differs" : "differ");
  CpuBackend cpu;
  const RepairRuns runs = run_repaired(run, cpu);
  if (!runs.refusal.empty()) {
    text += fmt::format("None was executed on the CPU: {}.\n", runs.refusal);
  } else {
    text += fmt::format(
        "{} {} on the CPU; {}.\n", counted(runs.schedule_count, "different schedule"),
        runs.schedule_count == 1 ? "was executed" : "were executed",
        runs.differing_count == 0
            ? "all outputs are the reference's, bit for bit"
            : fmt::format("{} gave other outputs than the reference", runs.differing_count));
  }
  return {text, exploration.strict_count + runs.differing_count > 0};
}

// Of those after own reads, which do not count.
uint64_t count_own_reads(const CheckReport& report) {
  return static_cast<uint64_t>(std::ranges::count(report.noted, true, &Finding::is_after_own_read));
}

// Whether what differs does so through hazards after own reads alone: without these nothing does.
bool is_through_own_reads(const TextRepair& repair, std::string_view name,
                          const ParseOptions& options) {
  const Result<TextRepair> without =
      repair_text(repair.text, name, options, {.counts_own_reads = true});
  return without && without->hazard_count == 0 && !text_of_runs(without->program).differs;
}

std::string text_of_own_reads(uint64_t count, bool differs) {
  return fmt::format(
      "{} after own read {} not counted, and {}{}: --deny=own-read repairs {}, too.\n",
      counted(count, "hazard"), count == 1 ? "is" : "are", count == 1 ? "stays" : "stay",
      differs ? "; what differs does so through that" : "", count == 1 ? "it" : "them");
}

bool needs_repair(const TextRepair& repair) {
  return repair.hazard_count_before > 0 || repair.destroy_count_before > 0 ||
         repair.has_deadlock_before;
}

bool is_repaired(const TextRepair& repair) {
  return repair.hazard_count == 0 && repair.destroy_count == 0 && !repair.has_deadlock;
}

// "a deadlock and 2 hazards", "1 hazard and 1 access after a destroy"
std::string text_of_findings(const TextRepair& repair) {
  std::vector<std::string> parts;
  if (repair.has_deadlock_before) parts.emplace_back("a deadlock");
  if (repair.hazard_count_before > 0)
    parts.push_back(counted(repair.hazard_count_before, "hazard"));
  if (repair.destroy_count_before > 0) {
    parts.push_back(counted(repair.destroy_count_before, "use") + " pending at a destroy");
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string text_of_rest(const TextRepair& repair) {
  if (is_repaired(repair)) return "none is left";
  if (repair.has_deadlock) return "it is left, and no change that was tried ends it";
  const uint64_t left = repair.hazard_count + repair.destroy_count;
  if (repair.hazard_count == 0) {
    return fmt::format("{} left, which no change of sync that was tried repairs", left);
  }
  return fmt::format("{} left, for which no change was found within the limits", left);
}

// Where nothing is to be repaired: what of a capture may be a hazard does not count here.
std::string text_of_none(const CheckReport& before) {
  const auto possible = std::ranges::count(before.noted, true, &Finding::is_possible);
  const uint64_t own = count_own_reads(before);
  if (possible == 0 && own > 0) return "No hazard that counts.\n" + text_of_own_reads(own, false);
  if (possible == 0) return "No hazard: there is nothing that sync repairs.\n";
  return fmt::format(
      "No certain hazard, and {} {} only possible: `check --possible` tells {}. What is sure to be a "
      "hazard is repaired here alone.\n",
      possible, possible == 1 ? "is" : "are", possible == 1 ? "it" : "them");
}

std::string text_of(const TextRepair& repair, const CheckReport& before) {
  if (!needs_repair(repair)) return text_of_none(before);
  std::string text =
      fmt::format("{}{}; {} added, {} changed; {}.\n", repair.counts_all_before ? "" : "more than ",
                  text_of_findings(repair), counted(repair.added_count, "line"),
                  counted(repair.changed_count, "line"), text_of_rest(repair));
  if (!repair.is_least)
    text += "Whether a line of the change can go was not tried: they are many.\n";
  if (repair.is_spelled_out) {
    text += "The diff is of the program with its replays and backward passes spelled out.\n";
  }
  return text;
}

ExitStatus run_fix(const FixOptions& options) {
  const Interruptible interruptible;
  ParseOptions parse_options = options.input.parse;
  read_every_queue(parse_options);
  const std::string& path = options.input.path;
  const Result<std::string> text = read_file(path, parse_options.limits);
  if (!text) return report_error(text.error());
  const std::string name = path == "-" ? "<stdin>" : path;
  const Result<Program> program = parse(*text, name, parse_options);
  if (!program) return report_error(program.error());
  const bool counts_own_reads = !options.denied.empty();
  const CheckOptions check_options{
      .counts_own_reads = counts_own_reads, .redundancy_budget = 0, .repair_budget = 0};
  const CheckReport before = check(*program, check_options);
  const Result<TextRepair> repair =
      repair_text(*text, name, parse_options, {.counts_own_reads = counts_own_reads});
  if (!repair) return report_error({repair.error().message});
  const CheckReport after = check(repair->program, check_options);
  std::string remark = text_of(*repair, before);
  bool is_found = !after.findings.empty() || !is_repaired(*repair);
  if (needs_repair(*repair) && is_repaired(*repair)) {
    const Shown witnesses = text_of_witnesses(before, repair->program);
    const Shown runs = text_of_runs(repair->program);
    remark += witnesses.text + runs.text;
    const uint64_t own = count_own_reads(after);
    const bool differs = witnesses.differs || runs.differs;
    const bool is_of_own_reads =
        differs && own > 0 && is_through_own_reads(*repair, name, parse_options);
    if (own > 0) remark += text_of_own_reads(own, is_of_own_reads);
    if (differs && !is_of_own_reads) {
      remark += after.findings.empty()
                    ? "It is not repaired: what was tried still differs.\n"
                    : "What differs may do so through the findings that are left.\n";
      is_found = true;
    }
  }
  if (is_stopped()) return ExitStatus::kInterrupted;
  remark += fmt::format("{} now: {}\n", name, summary_of(after));
  print_remark(remark);
  const ExitStatus status = is_found ? ExitStatus::kFinding : ExitStatus::kNothingFound;
  if (!options.output.empty()) return write_output(options.output, repair->text, status);
  const std::string patch = patch_of(path, repair->before, repair->text);
  if (is_gzip_name(path) && !patch.empty()) {
    print_remark(
        "The diff is of the text that is packed in the file; -o writes all of it, packed by its name.\n");
  }
  print_out(patch);
  return status;
}

}  // namespace

void add_fix_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<FixOptions>(
      app, status, "fix", "the smallest sync that repairs a program, as a diff of its text",
      run_fix);
  add_input_options(command, options.input);
  command
      .add_option("--deny", options.denied,
                  "what is repaired, too: own-read, for hazards after own reads")
      ->check(one_of({"own-read"}));
  command
      .add_option("-o,--output", options.output,
                  "the repaired text, instead of a diff; - is standard output")
      ->check(writable_path());
}

}  // namespace interlock
