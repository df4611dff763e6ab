// interlock replay: runs the recorded witness and says whether it still fails.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/interface/image.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/replay.h"
#include "simulator/facts/find_facts.h"
#include "simulator/lifetimes/truncation.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/check.h"
#include "simulator/report/explain.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/strategy_three.h"

namespace interlock {
namespace {

struct ReplayOptions {
  InputOptions input;
  std::string backend = "cpu";
  std::vector<std::string> witness;  // Instead of the recorded one.
};

// `program` with other witness lines. Errors: as parsing them in its text.
Result<Program> with_witness(Program program, const std::vector<std::string>& clauses) {
  program.witness.clear();
  program.expectations.clear();
  std::string text = print(program);
  for (const std::string& clause : clauses) {
    text += "witness " + clause + "\n";
  }
  ParseOptions options;
  read_every_queue(options);
  auto with = parse(text, "--witness", options);
  if (with) return with;
  // Without the line and column, which are those of the text made here.
  const std::string& message = with.error().message;
  const size_t sentence = message.find(": error: ");
  return error_of("--witness={}{}", fmt::join(clauses, " --witness="),
                  message.substr(std::min(sentence, message.size())));
}

std::string text_of(const ReplayReport& report) {
  std::string text = report.headline + "\n";
  for (const std::string& detail : report.details) {
    text += "  " + detail + "\n";
  }
  return text;
}

// Prints what a replay shows, or why there is none. Returns the exit status if that decides it:
// none where nothing differs.
std::optional<ExitStatus> decisive_status(const Result<ReplayReport>& report,
                                          const Backend& backend) {
  if (!report) return report_run_error(report.error(), backend);
  print_report(text_of(*report));
  if (report->diverges) return ExitStatus::kFinding;
  return std::nullopt;
}

// Of schedules for hazards that are tried.
constexpr size_t kWitnessesMax = 1000;

struct NamedSchedule {
  std::string name;
  Schedule schedule;
};

// On one queue these show whatever any schedule can show (docs/theory.md, T4 and T5).
std::vector<NamedSchedule> deciding_schedules(const Program& program, const HappensBefore& order) {
  return {{"issue order", reference_order_schedule(program)},
          {"each epoch reversed", epoch_reversed_schedule(program, order)},
          {"late commits", lazy_schedule(program, order)}};
}

// Runs a schedule and prints what it shows: returns whether an output differs.
Result<bool> replay_schedule(const Program& program, const NamedSchedule& named, Backend& backend) {
  const Result<ReplayReport> report = replay(program, named.schedule, backend);
  if (!report) return report.error();
  if (!report->diverges) {
    print_out(fmt::format("  {}: equal to the reference, bit for bit.\n", named.name));
    return false;
  }
  print_report(fmt::format("{} ({})\n", report->headline, named.name));
  for (const std::string& detail : report->details) print_out("  " + detail + "\n");
  return true;
}

ExitStatus replay_deciding_schedules(const Program& program, const HappensBefore& order,
                                     Backend& backend) {
  ExitStatus status = ExitStatus::kNothingFound;
  for (const NamedSchedule& named : deciding_schedules(program, order)) {
    const Result<bool> differs = replay_schedule(program, named, backend);
    if (!differs) return report_run_error(differs.error(), backend);
    if (*differs) status = ExitStatus::kFinding;
  }
  return status;
}

// The schedules that show the observable hazards, each once.
std::vector<std::vector<Displacement>> witnesses_of_hazards(const CheckReport& report) {
  std::vector<std::vector<Displacement>> witnesses;
  for (const Finding& finding : report.findings) {
    if (finding.witness.empty()) continue;
    const bool is_new = std::ranges::find(witnesses, finding.witness) == witnesses.end();
    if (is_new) witnesses.push_back(finding.witness);
    if (witnesses.size() == kWitnessesMax) break;
  }
  return witnesses;
}

// That the program never ends is no matter of a schedule.
std::optional<ExitStatus> report_deadlock(const Program& program) {
  if (!needs_queue_order(program)) return std::nullopt;
  const ReferenceOrder order = find_reference_order(program);
  if (order.cycle.empty()) return std::nullopt;
  const Finding finding = explain_deadlock(program, Deadlock{order.cycle});
  print_report("It still fails in every run.\n" + finding.headline + "\n");
  for (const std::string& detail : finding.details) print_out("  " + detail + "\n");
  return ExitStatus::kFinding;
}

size_t hazards_not_judged(const CheckReport& report) {
  return static_cast<size_t>(std::ranges::count_if(report.findings, [](const Finding& finding) {
    return is_hazard(finding.kind) && finding.observability == Observability::kUnknown;
  }));
}

ExitStatus report_no_verdict(const std::string& reason) {
  return report_error({fmt::format("nothing differs so far, and no verdict: {}.", reason)});
}

// Beside scoped barriers no few schedules decide. The first one that differs is enough: hazards may
// be many, and few of them show in numbers that happen to be equal.
ExitStatus replay_hazards(const Program& program, const HappensBefore& order, Backend& backend) {
  const std::string name = order.has_queues() ? "reference order" : "issue order";
  const Result<bool> differs =
      replay_schedule(program, {name, reference_order_schedule(program)}, backend);
  if (!differs) return report_run_error(differs.error(), backend);
  if (*differs) return ExitStatus::kFinding;
  const CheckReport report = check(program);
  if (is_stopped()) return ExitStatus::kInterrupted;
  const std::vector<std::vector<Displacement>> witnesses = witnesses_of_hazards(report);
  size_t refused_count = 0;
  for (const std::vector<Displacement>& witness : witnesses) {
    Result<Schedule> schedule = schedule_of(program, order, witness);
    if (!schedule && is_stopped()) return ExitStatus::kInterrupted;
    INTERLOCK_CHECK(schedule.has_value());
    std::vector<std::string> moves;
    for (const Displacement& move : witness) moves.push_back(text_of(program, move));
    const NamedSchedule named{fmt::format("{}", fmt::join(moves, ", ")), *std::move(schedule)};
    const Result<bool> shows = replay_schedule(program, named, backend);
    // Not every backend fetches early.
    if (!shows && !named.schedule.bytes.empty() && shows.error().kind == ErrorKind::kRefused) {
      ++refused_count;
      continue;
    }
    if (!shows) return report_run_error(shows.error(), backend);
    if (*shows) return ExitStatus::kFinding;
  }
  if (refused_count > 0) {
    return report_no_verdict(
        fmt::format("the backend refuses {} of {} schedules, which the cpu backend can execute",
                    refused_count, witnesses.size()));
  }
  if (witnesses.size() == kWitnessesMax) {
    return report_no_verdict(fmt::format(
        "there are more hazards than the {} whose schedules were tried, the limit; give the schedule of one with --witness",
        kWitnessesMax));
  }
  if (report.is_truncated()) return report_no_verdict(text_of(report.truncations));
  const size_t unknown_count = hazards_not_judged(report);
  if (unknown_count == 0) return ExitStatus::kNothingFound;
  return report_no_verdict(
      fmt::format("of {} no schedule is known; `interlock check` says why",
                  unknown_count == 1 ? "a hazard" : fmt::format("{} hazards", unknown_count)));
}

ExitStatus try_other_schedules(const Program& program, const std::string& why, Backend& backend) {
  const HappensBefore order(program);
  if (order.has_scopes() || order.has_queues()) {
    print_out(why + " Trying a schedule for each observable hazard, until one differs.\n");
    return replay_hazards(program, order, backend);
  }
  print_out(why + " Trying the schedules that decide one queue.\n");
  const ExitStatus status = replay_deciding_schedules(program, order, backend);
  if (status != ExitStatus::kNothingFound) return status;
  const std::vector<Truncation> truncations = find_value_truncations(program);
  return truncations.empty() ? status : report_no_verdict(text_of(truncations));
}

// Values that are not there, or not there any more, are so in every run, and operands that share
// bytes are no matter of order: nothing differs, and the program is wrong all the same.
ExitStatus report_what_no_schedule_shows(const Program& program) {
  const CheckReport report = check(program);
  if (is_stopped()) return ExitStatus::kInterrupted;
  if (report.findings.empty()) return ExitStatus::kNothingFound;
  const size_t others = report.findings.size() - 1;
  print_out(fmt::format("No schedule shows what `interlock check` finds{}: {}\n",
                        others == 0 ? "" : fmt::format(", this and {} more", others),
                        report.findings.front().headline));
  return ExitStatus::kNothingFound;
}

// Without a usable witness; `why` says so in whole sentences.
ExitStatus replay_other_schedules(const Program& program, const std::string& why,
                                  Backend& backend) {
  const ExitStatus status = try_other_schedules(program, why, backend);
  return status == ExitStatus::kNothingFound ? report_what_no_schedule_shows(program) : status;
}

ExitStatus run_replay(const ReplayOptions& options) {
  const Interruptible interruptible;
  ExitStatus status = ExitStatus::kNothingFound;
  Backend* const backend = require_backend(options.backend, status);
  if (backend == nullptr) {
    return status;
  }
  Result<Program> program = parse_file(options.input.path, options.input.parse);
  if (program && !options.witness.empty()) {
    program = with_witness(std::move(program).value(), options.witness);
  }
  if (!program) {
    return report_error(program.error());
  }
  if (const auto status_of_deadlock = report_deadlock(*program)) return *status_of_deadlock;
  program = reference_run(*program);
  if (program->witness.empty()) {
    const std::vector<GradientFinding> wrong = find_wrong_gradients(*program);
    if (is_stopped()) return ExitStatus::kInterrupted;
    if (!wrong.empty()) {
      const auto status_of_gradients =
          decisive_status(replay_gradients(*program, wrong, *backend), *backend);
      if (status_of_gradients) return *status_of_gradients;
    }
    return replay_other_schedules(*program, "No witness line.", *backend);
  }
  const HappensBefore order(*program);
  const Result<Schedule> schedule = schedule_of(*program, order, program->witness);
  if (is_stopped()) return ExitStatus::kInterrupted;
  if (!schedule) {
    const std::string_view which = options.witness.empty()
                                       ? "The recorded witness is no longer legal. "
                                       : "That witness is not legal. ";
    return replay_other_schedules(*program, std::string(which) + schedule.error().message,
                                  *backend);
  }
  const auto status_of_witness = decisive_status(replay(*program, *backend), *backend);
  if (status_of_witness) return *status_of_witness;
  // An edit of the program can leave its witness legal and harmless, and the hazard where it was.
  return replay_other_schedules(*program, "The hazard may be elsewhere by now.", *backend);
}

}  // namespace

void add_replay_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<ReplayOptions>(
      app, status, "replay", "runs the recorded witness: 1 it still fails, 0 it does not",
      run_replay);
  add_input_options(command, options.input);
  read_every_queue(options.input.parse);
  command.add_option("--backend", options.backend, "where to run")->capture_default_str();
  command.add_option(
      "--witness", options.witness,
      "a schedule instead of the recorded one, e.g. \"vjp before reduce\"; repeat it for several displacements");
}

}  // namespace interlock
