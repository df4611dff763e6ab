// interlock replay: runs the recorded witness and says whether it still fails.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/output_digest.h"
#include "encoder/text.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/gradient_evidence.h"
#include "fuzz/replay.h"
#include "fuzz/replay_gradients.h"
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

// Without a usable witness the deciding schedules stand in: on one queue they show whatever any
// schedule can show (docs/theory.md, T4 and T5).
ExitStatus replay_deciding_schedules(const Program& program, const std::string& why,
                                     Backend& backend) {
  print_out(why + "\n");
  const HappensBefore order(program);
  const std::pair<std::string_view, Schedule> schedules[] = {
      {"issue order", issue_order_schedule(program)},
      {"each epoch reversed", epoch_reversed_schedule(program, order)},
      {"late commits", lazy_schedule(program, order)},
  };
  ExitStatus status = ExitStatus::kNothingFound;
  for (const auto& [name, schedule] : schedules) {
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
    return replay_deciding_schedules(
        *program, "No witness line: trying the schedules that decide one queue.", *backend);
  }
  const HappensBefore order(*program);
  const Result<Schedule> schedule = schedule_of(*program, order, program->witness);
  if (!schedule) {
    return replay_deciding_schedules(
        *program, "The recorded witness is no longer legal: " + schedule.error().message, *backend);
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
  return replay_deciding_schedules(*program, "Trying the schedules that decide one queue as well.",
                                   *backend);
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
