// interlock conform: which named properties an encoder has, with a counterexample for each that it
// lacks.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "encoder/queues/queue_encoder.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/cli/pass_options.h"
#include "fuzz/conform/conform.h"
#include "fuzz/conform/conform_on_queues.h"
#include "fuzz/judge/pass_chain.h"

namespace interlock {
namespace {

// A process takes its time for each dispatch.
constexpr uint64_t kExternalStreamDispatches = 20'000;

struct ConformCommand {
  std::string encoder;
  ExternalOption external;
  ConformOptions conform;
  const CLI::Option* stream = nullptr;
};

// "orders-hazards     FAILS       WAR in run 12, 2 dispatches: out/orders-hazards.ilk"
std::string table_of(const ConformReport& report) {
  std::string text;
  for (const ConformProperty& property : report.properties) {
    text += fmt::format("{:<18} {:<11} {}{}\n", property.name, word_of(property.verdict),
                        property.detail, property.path.empty() ? "" : ": " + property.path);
  }
  return text;
}

// "  Replay: interlock replay out/orders-hazards.ilk", a line for each file.
std::string next_commands_of(const ConformReport& report, const ConformCommand& options) {
  std::string text;
  std::string shown;
  for (const ConformProperty& property : report.properties) {
    if (property.path.empty()) continue;
    const std::string file = path_word(property.path);
    if (property.name == "answers") {
      text += fmt::format("  Again: interlock encode --encoder={}{} {}\n",
                          shell_word(options.encoder), options.external.flags(), file);
      continue;
    }
    if (property.verdict == ConformVerdict::kAdvice) {
      text += fmt::format("  Advice: interlock check --advice {}\n", file);
    } else {
      text += fmt::format("  {} {}\n",
                          property.replays ? "Replay: interlock replay" : "Report: interlock check",
                          file);
    }
    if (shown.empty()) shown = fmt::format("  Picture: interlock show {}\n", file);
  }
  if (text.empty() && report.has_failure() && options.conform.out_dir.empty()) {
    return "With --out=DIR there is a file for each that fails, for `interlock replay`, `check` and "
           "`show`.\n";
  }
  return text + shown;
}

std::string summary_of(const ConformReport& report, const std::string& encoder) {
  const auto count_of = [&](ConformVerdict verdict) {
    return std::ranges::count(report.properties, verdict, &ConformProperty::verdict);
  };
  const auto unjudged = count_of(ConformVerdict::kNotJudged);
  return fmt::format("{} programs; {} of {} properties hold, {} fail{} ({}).\n",
                     report.program_count, count_of(ConformVerdict::kHolds),
                     report.properties.size(), count_of(ConformVerdict::kFails),
                     unjudged > 0 ? fmt::format(", {} not judged", unjudged) : "", encoder);
}

ExitStatus run_conform(ConformCommand& options) {
  const Interruptible interruptible;
  if (auto checked = check_queue_kind(options.external, options.encoder); !checked) {
    return report_error(checked.error());
  }
  const QueueEncoderEntry* queue_encoder = find_queue_encoder(options.encoder);
  PassNames names;
  if (queue_encoder == nullptr) names.encoder = options.encoder;
  const Result<PassChain> passes = find_passes(names, options.external);
  if (!passes) return report_error(passes.error());
  ConformOptions& conform_options = options.conform;
  conform_options.stop = &interrupt_stop();
  conform_options.encoder_flags = options.external.flags();
  if (options.stream->count() == 0 && options.external.opened != nullptr) {
    conform_options.stream_dispatches = kExternalStreamDispatches;
  }
  if (passes->queue_encoder != nullptr) queue_encoder = passes->queue_encoder;
  const Result<ConformReport> report = queue_encoder != nullptr
                                           ? conform_on_queues(*queue_encoder, conform_options)
                                           : conform(*passes->encoder, conform_options);
  const StopScope to_the_end(nullptr);
  if (!report) return report_error({report.error().message});
  print_out(table_of(*report) + summary_of(*report, options.encoder) +
            next_commands_of(*report, options));
  for (const std::string& disagreement : report->disagreements) {
    print_report("internal disagreement: " + disagreement + " Please report this as a bug.\n");
  }
  const bool has_finding = report->has_failure() || !report->disagreements.empty();
  return has_finding ? ExitStatus::kFinding : ExitStatus::kNothingFound;
}

}  // namespace

void add_conform_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<ConformCommand>(
      app, status, "conform",
      "judges which properties an encoder has, and shows by a small program which it lacks",
      run_conform);
  ConformOptions& conform_options = options.conform;
  command
      .add_option("--encoder", options.encoder,
                  "the encoder under test, exec:COMMAND for a process, lib:FILE for a library")
      ->required();
  add_exec_options(command, options.external);
  add_queue_kind(command, options.external);
  add_number(command, "--seed", conform_options.seed, "same seed, same programs");
  add_number(command, "--runs", conform_options.run_count, "how many generated programs");
  add_number(command, "--max-distance", conform_options.distance_max,
             "dispatches from the first of a hazard to the second", 1, 65'536);
  add_number(command, "--max-operands", conform_options.operand_count_max, "of one dispatch", 1,
             250);
  options.stream =
      add_number(command, "--stream", conform_options.stream_dispatches,
                 "dispatches of one long program; for a process 20,000 without this; for "
                 "several queues at most 1,000",
                 0, 10'000'000);
  add_number(command, "--jobs", conform_options.job_count, "worker threads", 1, 256);
  command.add_option("--out", conform_options.out_dir,
                     "folder for counterexamples; none without it");
}

}  // namespace interlock
