#include "fuzz/cli/campaign_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <variant>

#include "backends/interface/backend.h"
#include "fuzz/campaign/campaign_files.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/judge/pass_chain.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"

namespace interlock {
namespace {

std::string text_of(const DeviceSummary& device, const std::string& name) {
  std::string text = fmt::format(
      "  {}: {} programs in {} schedules; of {} outputs that the simulator says a schedule changes, {} differ.\n",
      name, device.program_count, device.schedule_count, device.predicted_output_count,
      device.diverging_output_count);
  if (device.clean_trial_count + device.hazard_trial_count > 0) {
    text += fmt::format(
        "  {} overlapping: {} trials of clean programs; {} of {} trials with a hazard diverge, in {} of {} programs.\n",
        name, device.clean_trial_count, device.hazard_divergence_count, device.hazard_trial_count,
        device.diverging_program_count, device.hazard_program_count);
  }
  if (device.judged_dispatch_count > 0) {
    text += fmt::format(
        "  {} against float64: {} dispatches; the largest error is {:.2f} of its bound.\n", name,
        device.judged_dispatch_count, device.bound_ratio_max);
  }
  if (device.refused_count > 0) {
    text += fmt::format("  {} programs need what {} does not have.\n", device.refused_count, name);
  }
  if (device.failure_count > 0) {
    text += fmt::format("  {} programs failed on {}{}.\n", device.failure_count, name,
                        device.is_given_up ? ", the last five in a row: it is given up" : "");
  }
  return text;
}

// The commands that show a find, each of which ends with status 1 for what was found. Barriers that
// are too many are no hazard: no schedule shows them.
std::string commands_of(const CampaignFind& find, const CampaignOptions& campaign) {
  if (!find.failure.empty() && !find.path.empty()) {
    return fmt::format("  Again: {}\n", command_of_failure(campaign, find, path_word(find.path)));
  }
  std::string text;
  const std::string file = path_word(find.path);
  const bool is_excess = find.signature == "excess";
  if (!find.path.empty() && !is_excess) {
    text += fmt::format("  Report: interlock check {}\n", file);
  } else if (!find.path.empty() &&
             !unexpected_redundancy(find.program, check(find.program)).empty()) {
    text += fmt::format("  Report: interlock check --advice --deny=redundant {}\n", file);
  }
  if (!find.path.empty() && !find.program.witness.empty()) {
    text += fmt::format("  Replay: interlock replay {}\n", file);
  }
  if (!find.path.empty()) text += fmt::format("  Picture: interlock show {}\n", file);
  return text + fmt::format("  Again: {}\n", command_of_find(campaign, find));
}

}  // namespace

std::string text_of(const CampaignFind& find, const CampaignOptions& campaign, bool is_verbose) {
  const bool is_hazard = !find.fact || std::holds_alternative<Hazard>(*find.fact);
  const bool is_shown = find.is_observable || !find.failure.empty() || !is_hazard;
  std::string text = fmt::format(
      "found in run {}: {}{}{}, minimized from {} to {} dispatches{}{}\n  Again: {}",
      find.run_index, find.is_better_one ? "a better instance, " : "", find.signature,
      is_shown ? "" : " (unobservable)", find.original_dispatch_count, find.dispatch_count,
      find.path.empty() ? "" : ": " + find.path, find.failure.empty() ? "" : "\n  " + find.failure,
      command_of_find(campaign, find));
  if (is_verbose) text += "\n" + find.text.substr(0, find.text.find_last_not_of('\n') + 1);
  return text;
}

std::string text_of(const DeviceFailure& failure, const CampaignOptions& campaign) {
  return fmt::format("run {} failed on the device: {}{}\n  Again: {}", failure.run_index,
                     failure.message, failure.path.empty() ? "" : " Kept: " + failure.path,
                     command_of_run(campaign, failure.run_index, true));
}

std::string text_of_recall(const CampaignProgress& progress, const CampaignOptions& campaign) {
  const std::string finds =
      fmt::format("{} distinct find{}", progress.find_count, progress.find_count == 1 ? "" : "s");
  const std::string journal = journal_path(campaign.out_dir);
  return progress.run_count > 0
             ? fmt::format("going on after {} programs, with {}: {}", progress.run_count, finds,
                           journal)
             : fmt::format("adding to {} of other campaigns: {}", finds, journal);
}

std::string summary_of(const CampaignReport& report, const CampaignOptions& campaign,
                       const std::string& backend, bool is_quiet) {
  const bool has_device = campaign.oracles.device.backend != nullptr;
  const auto known_count = std::ranges::count(report.finds, true, &CampaignFind::is_known);
  std::string text = fmt::format(
      "{} programs, {} on the CPU{} too; {} with findings, {} distinct", report.run_count,
      report.cpu_run_count,
      has_device ? fmt::format(" and {} on {}", report.device.program_count, backend) : "",
      report.failing_run_count, report.finds.size() - static_cast<size_t>(known_count));
  std::string names = names_of(chain_of(campaign));
  if (names.empty()) {
    names = campaign.generator.has_queues ? "several queues, as they stand" : "as they stand";
  }
  text += fmt::format(" ({}, seed {}).\n", names, campaign.seed);
  if (is_quiet) return text;
  if (has_device) text += text_of(report.device, backend);
  if (known_count > 0) {
    text += fmt::format("  {} more {} found before by other campaigns in {}.\n", known_count,
                        known_count == 1 ? "was" : "were", shell_word(campaign.out_dir));
  }
  if (report.uncounted_run_count > 0) {
    text += fmt::format(
        "  Guided: it ended within the first {} programs, whose cells are counted if more follow.\n",
        report.uncounted_run_count);
  } else if (campaign.is_guided) {
    text += fmt::format(
        "  Guided: {} cells were reached{}, and {} programs are parents{}.\n", report.cell_count,
        report.branch_cell_count > 0
            ? fmt::format(", {} of them by branches of the encoder", report.branch_cell_count)
            : "",
        report.parent_count,
        campaign.out_dir.empty() ? "" : ", in " + path_word(campaign.out_dir + "/parents"));
  }
  if (report.is_given_up) {
    text +=
        "  It did not answer too many programs in a row, and is not asked any more: the same "
        "command goes on with the next one.\n";
  }
  if (report.was_complete) {
    text += fmt::format("  The journal in {} says that this campaign had ended: no run was made.\n",
                        shell_word(campaign.out_dir));
  }
  if (!report.finds.empty()) text += commands_of(report.finds[0], campaign);
  return text;
}

std::string command_that_goes_on(const CampaignReport& report, const CampaignOptions& campaign,
                                 double seconds_passed) {
  const bool has_device = campaign.oracles.device.backend != nullptr;
  const bool has_journal = !campaign.out_dir.empty();
  // Guided runs are made of those before them: without a journal all begins anew.
  const uint64_t done = has_journal || campaign.is_guided ? 0 : report.run_count;
  std::string command = command_of_subject(campaign, has_device);
  if (campaign.oracles.device.period != DeviceOracleOptions{}.period) {
    command += fmt::format(" --device-period={}", campaign.oracles.device.period);
  }
  command += fmt::format(" --seed={}", campaign.seed);
  // A shard that went on as other runs could not be merged. Without a journal there is nothing to
  // merge.
  const bool is_shard = has_journal && !campaign.shard.empty();
  const uint64_t first_run = is_shard ? campaign.whole_begin : campaign.first_run + done;
  if (first_run > 0) command += fmt::format(" --first-run={}", first_run);
  if (campaign.seconds > 0) {
    const double left = campaign.seconds - (has_journal ? 0 : seconds_passed);
    command += fmt::format(" --seconds={}", has_journal ? left : std::max(1.0, std::ceil(left)));
  } else if (is_shard) {
    command += fmt::format(" --runs={} --shard={}", campaign.whole_end - campaign.whole_begin,
                           campaign.shard);
  } else {
    command += fmt::format(" --runs={}", campaign.run_count - done);
  }
  if (campaign.find_limit > 0) command += fmt::format(" --max-finds={}", campaign.find_limit);
  if (campaign.job_count != 1) command += fmt::format(" --jobs={}", campaign.job_count);
  if (has_journal) command += " --out=" + shell_word(campaign.out_dir);
  return command;
}

}  // namespace interlock
