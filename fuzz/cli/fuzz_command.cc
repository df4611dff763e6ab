// interlock fuzz: a campaign of generated programs against an encoder, or against other passes.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/remote/remote_backend.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/cli/campaign_texts.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/fuzz_options.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/cli/report_files.h"

namespace interlock {
namespace {

constexpr unsigned kGraceSeconds = 10;  // What was found is put away; a device may be slow to end.

// The device is in a process of its own, which may hang or die without this one.
std::unique_ptr<RemoteBackend> device_of(const FuzzOptions& options, ExitStatus& status) {
  if (find_named_backend(options.backend, status) == nullptr) return nullptr;
  RemoteOptions remote;
  remote.name = options.backend;
  remote.command =
      options.worker.empty()
          ? std::vector<std::string>{"/proc/self/exe", "serve", "--backend=" + options.backend}
          : std::vector<std::string>{"/bin/sh", "-c", "exec " + options.worker};
  remote.timeout_seconds = options.device_timeout_seconds;
  remote.stop = &interrupt_stop();
  auto device = std::make_unique<RemoteBackend>(std::move(remote));
  return is_there(*device, options.backend, status) ? std::move(device) : nullptr;
}

ExitStatus status_of(const CampaignReport& report) {
  if (report.failing_run_count > 0 || !report.disagreements.empty()) return ExitStatus::kFinding;
  return report.device.failure_count > 0 ? ExitStatus::kUnavailable : ExitStatus::kNothingFound;
}

// How the campaign is told of, as its command said it.
std::string telling_flags(const FuzzOptions& options) {
  std::string flags;
  for (const std::string& path : options.report_paths) flags += " --report=" + shell_word(path);
  if (options.progress != FuzzOptions{}.progress)
    flags += " --progress=" + shell_word(options.progress);
  if (options.is_quiet) flags += " -q";
  if (options.is_verbose) flags += " -v";
  return flags;
}

ExitStatus run_fuzz(FuzzOptions& options) {
  const Interruptible interruptible(kGraceSeconds);  // Opening an encoder may take its time.
  auto set = set_campaign(options);
  if (!set) return report_error(set.error());
  CampaignOptions& campaign = options.campaign;
  std::unique_ptr<RemoteBackend> device;
  if (options.backend != "cpu") {
    ExitStatus status = ExitStatus::kNothingFound;
    device = device_of(options, status);
    if (device == nullptr) return status;
    campaign.oracles.device.backend = device.get();
  }
  campaign.stop = &interrupt_stop();
  tell_of_campaign(options);
  CampaignProgress last;  // Of what reports tell how long it took.
  campaign.on_progress =
      [&last, told = std::move(campaign.on_progress)](const CampaignProgress& progress) {
        last = progress;
        if (told) told(progress);
      };
  if (options.seed == "random") show_progress(fmt::format("seed {}", campaign.seed), true);
  const auto start = std::chrono::steady_clock::now();
  const Result<CampaignReport> report = run_campaign(campaign);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  const StopScope to_the_end(nullptr);
  if (!report) {
    return report_error({report.error().message});
  }
  finish_progress();
  print_out(summary_of(*report, campaign, options.backend, options.is_quiet));
  for (const std::string& disagreement : report->disagreements) {
    print_report("internal disagreement: " + disagreement + " Please report this as a bug.\n");
  }
  if (report->was_stopped) {
    print_out(fmt::format("  Interrupted. Go on: {}{}\n",
                          command_that_goes_on(*report, campaign, passed.count()),
                          telling_flags(options)));
  }
  return worse(status_of(*report),
               write_reports(options, MeasuredRate{last.judged_run_count, last.seconds}));
}

}  // namespace

void add_fuzz_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<FuzzOptions>(
      app, status, "fuzz",
      "generates programs and judges what an encoder, or other passes, make of them", run_fuzz);
  add_fuzz_options(command, options);
  options.program = &app;
}

}  // namespace interlock
