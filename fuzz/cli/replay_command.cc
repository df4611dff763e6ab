// interlock replay: runs the recorded witness and says whether it still fails.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/output_digest.h"
#include "encoder/check.h"
#include "encoder/text.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/gradient_evidence.h"
#include "fuzz/replay.h"
#include "fuzz/replay_gradients.h"
#include "simulator/check.h"
#include "simulator/strategies.h"

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
  return parse(text, "--witness");
}

std::string text_of(const ReplayReport& report) {
  std::string text = report.headline + "\n";
  for (const std::string& detail : report.details) {
    text += "  " + detail + "\n";
  }
  return text;
}

struct NamedSchedule {
  std::string name;
  Schedule schedule;
};

// On one queue these show whatever any schedule can show (docs/theory.md, T4 and T5).
std::vector<NamedSchedule> deciding_schedules(const Program& program, const HappensBefore& order) {
  return {{"issue order", issue_order_schedule(program)},
          {"each epoch reversed", epoch_reversed_schedule(program, order)},
          {"late commits", lazy_schedule(program, order)}};
}

// Beside scoped barriers no few schedules decide: issue order, and what shows each observable
// hazard. Most bugs have one; the others would say no more.
std::vector<NamedSchedule> schedules_of_hazards(const Program& program,
                                                const HappensBefore& order) {
  constexpr size_t kCountMax = 16;
  std::vector<NamedSchedule> schedules = {{"issue order", issue_order_schedule(program)}};
  for (const Finding& finding : check(program).findings) {
    if (finding.witness.empty()) continue;
    if (schedules.size() > kCountMax) break;
    Result<Schedule> schedule = schedule_of(program, order, finding.witness);
    INTERLOCK_CHECK(schedule.has_value());
    std::vector<std::string> moves;
    for (const Displacement& move : finding.witness) moves.push_back(text_of(program, move));
    schedules.push_back({fmt::format("{}", fmt::join(moves, ", ")), *std::move(schedule)});
  }
  return schedules;
}

// Without a usable witness; `why` says so in whole sentences.
ExitStatus replay_other_schedules(const Program& program, const std::string& why,
                                  Backend& backend) {
  const HappensBefore order(program);
  const bool has_scopes = order.has_scopes();
  print_out(fmt::format("{} Trying {}.\n", why,
                        has_scopes ? "a schedule for each observable hazard"
                                   : "the schedules that decide one queue"));
  ExitStatus status = ExitStatus::kNothingFound;
  for (const auto& [name, schedule] :
       has_scopes ? schedules_of_hazards(program, order) : deciding_schedules(program, order)) {
    const Result<ReplayReport> report = replay(program, schedule, backend);
    if (!report) {
      return report_run_error(report.error(), backend);
    }
    if (report->diverges) {
      status = ExitStatus::kFinding;
      print_report(fmt::format("{} ({})\n", report->headline, name));
      for (const std::string& detail : report->details) {
        print_out("  " + detail + "\n");
      }
    } else {
      print_out(fmt::format("  {}: equal to the reference, bit for bit.\n", name));
    }
  }
  return status;
}

ExitStatus run_replay(const ReplayOptions& options) {
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
  if (program->witness.empty() && !find_wrong_gradients(*program).empty()) {
    const Result<ReplayReport> report = replay_gradients(*program, *backend);
    if (!report) {
      return report_run_error(report.error(), *backend);
    }
    print_report(text_of(*report));
    if (report->diverges) {
      return ExitStatus::kFinding;
    }
  }
  if (program->witness.empty()) {
    return replay_other_schedules(*program, "No witness line.", *backend);
  }
  const HappensBefore order(*program);
  const Result<Schedule> schedule = schedule_of(*program, order, program->witness);
  if (!schedule) {
    return replay_other_schedules(
        *program, "The recorded witness is no longer legal. " + schedule.error().message, *backend);
  }
  const Result<ReplayReport> report = replay(*program, *backend);
  if (!report) {
    return report_run_error(report.error(), *backend);
  }
  print_report(text_of(*report));
  if (report->diverges) {
    return ExitStatus::kFinding;
  }
  // An edit of the program can leave its witness legal and harmless, and the hazard where it was.
  return replay_other_schedules(*program, "The hazard may be elsewhere by now.", *backend);
}

}  // namespace

void add_replay_command(CLI::App& app, ExitStatus& status) {
  CLI::App* const command =
      app.add_subcommand("replay", "runs the recorded witness: 1 it still fails, 0 it does not");
  auto options = std::make_shared<ReplayOptions>();
  add_input_options(*command, options->input);
  command->add_option("--backend", options->backend, "where to run")->capture_default_str();
  command->add_option(
      "--witness", options->witness,
      "a schedule instead of the recorded one, e.g. \"vjp before reduce\"; repeat it "
      "for several displacements");
  command->callback([options, &status] { status = run_replay(*options); });
}

}  // namespace interlock
