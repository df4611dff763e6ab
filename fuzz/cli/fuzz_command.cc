// interlock fuzz: a campaign of generated programs against one encoder.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "encoder/encoder.h"
#include "fuzz/campaign.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"

namespace interlock {
namespace {

struct FuzzOptions {
  std::string encoder;
  CampaignOptions campaign;
  bool judges_excess = false;
  std::string backend = "cpu";
};

std::string text_of(const CampaignFind& find) {
  return fmt::format("found in run {}: {}{}, minimized from {} to {} dispatches{}", find.run_index,
                     find.signature, find.is_observable ? "" : " (unobservable)",
                     find.original_dispatch_count, find.program.dispatches.size(),
                     find.path.empty() ? "" : ": " + find.path);
}

std::string summary_of(const CampaignReport& report, const FuzzOptions& options) {
  std::string text = fmt::format("{} programs, {} on the CPU{} too; {} with findings, {} distinct",
                                 report.run_count, report.cpu_run_count,
                                 options.backend == "cpu" ? "" : " and " + options.backend,
                                 report.failing_run_count, report.finds.size());
  text += fmt::format(" ({}, seed {}).\n",
                      options.encoder.empty() ? "as they stand" : "encoder " + options.encoder,
                      options.campaign.seed);
  if (!report.finds.empty() && !report.finds[0].path.empty()) {
    text += fmt::format("  Report: interlock check {0}\n  Replay: interlock replay {0}\n",
                        report.finds[0].path);
  }
  return text;
}

ExitStatus run_fuzz(FuzzOptions& options) {
  install_interrupt_handler();
  CampaignOptions& campaign = options.campaign;
  if (!options.encoder.empty()) {
    campaign.encoder = find_encoder(options.encoder);
    if (campaign.encoder == nullptr) {
      return report_error({fmt::format(
          "there is no encoder '{}'. `interlock list encoders` names them.", options.encoder)});
    }
  }
  if (options.backend != "cpu") {
    ExitStatus status = ExitStatus::kNothingFound;
    campaign.oracles.device = require_backend(options.backend, status);
    if (campaign.oracles.device == nullptr) return status;
  }
  campaign.generator.has_barriers = campaign.encoder == nullptr;
  campaign.oracles.judges_excess = options.judges_excess;
  campaign.stop = &interrupted();
  campaign.on_progress = [](const CampaignProgress& progress) {
    show_progress(fmt::format("{} programs, {} with findings, {} distinct", progress.run_count,
                              progress.failing_run_count, progress.find_count));
  };
  campaign.on_find = [](const CampaignFind& find) { show_progress(text_of(find), true); };
  const Result<CampaignReport> report = run_campaign(campaign);
  if (!report) {
    return report_error({report.error().message});
  }
  finish_progress();
  print_out(summary_of(*report, options));
  for (const std::string& disagreement : report->disagreements) {
    print_report("internal disagreement: " + disagreement + " Please report this as a bug.\n");
  }
  return report->finds.empty() && report->disagreements.empty() ? ExitStatus::kNothingFound
                                                                : ExitStatus::kFinding;
}

}  // namespace

void add_fuzz_command(CLI::App& app, ExitStatus& status) {
  CLI::App* const command =
      app.add_subcommand("fuzz", "generates programs and judges an encoder's sync on them");
  auto options = std::make_shared<FuzzOptions>();
  CampaignOptions& campaign = options->campaign;
  command->add_option("--encoder", options->encoder,
                      "the encoder under test; without it programs with sync of their own");
  command
      ->add_option("--backend", options->backend,
                   "executes what the CPU executes on this one, too, and compares")
      ->capture_default_str();
  command->add_option("--seed", campaign.seed, "same seed, same programs, same files")
      ->check(whole_number())
      ->capture_default_str();
  CLI::Option* const runs = command->add_option("--runs", campaign.run_count, "how many programs")
                                ->check(whole_number(1))
                                ->capture_default_str();
  command->add_option("--first-run", campaign.first_run, "number of the first program")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--seconds", campaign.seconds, "instead of --runs: for how long")
      ->check(CLI::PositiveNumber)
      ->excludes(runs);
  command->add_option("--jobs", campaign.job_count, "worker threads; files do not depend on it")
      ->check(whole_number(1, 256))
      ->capture_default_str();
  command->add_option("--out", campaign.out_dir, "folder for minimized finds; none without it");
  command
      ->add_option("--max-finds", campaign.find_limit,
                   "stop after so many distinct finds; 0: never")
      ->check(whole_number())
      ->capture_default_str();
  command->add_option("--max-dispatches", campaign.generator.max_dispatches, "of one program")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command->add_flag("--deny-excess", options->judges_excess,
                    "more barriers than the proven minimum is a finding too");
  command->callback([options, &status] { status = run_fuzz(*options); });
}

}  // namespace interlock
