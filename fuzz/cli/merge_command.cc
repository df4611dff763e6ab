// interlock merge: the shards of a campaign become that campaign.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/merge.h"
#include "fuzz/cli/campaign_texts.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/fuzz_options.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/interrupt.h"
#include "fuzz/cli/journal_options.h"
#include "fuzz/cli/report_files.h"

namespace interlock {
namespace {

constexpr unsigned kMergeGraceSeconds = 10;  // What was found is put away.

struct MergeOptions {
  std::vector<std::string> folders;
  FuzzOptions fuzz;  // What is told, and where to; the rest is that of the shards.
};

// A shard that becomes the whole is no shard any more, and not the files of one campaign, either.
Result<Success> check_folders(const MergeOptions& options) {
  const std::string& out = options.fuzz.campaign.out_dir;
  for (const std::string& folder : options.folders) {
    std::error_code ignored;
    if (!std::filesystem::equivalent(folder, out, ignored)) continue;
    return error_of("--out={} is one of the shards. Give another folder.", out);
  }
  return Success{};
}

ExitStatus run_merge(MergeOptions& options) {
  const Interruptible interruptible(kMergeGraceSeconds);
  auto checked = check_folders(options);
  if (!checked) return report_error(checked.error());
  checked = check_report_paths(options.fuzz.report_paths, options.fuzz.campaign.out_dir);
  if (!checked) return report_error(checked.error());
  auto merged = MergedBlocks::of(options.folders);
  if (!merged) return report_error(merged.error());
  CampaignOptions& campaign = options.fuzz.campaign;
  auto named =
      merged_campaign_of((*merged)->campaign(), options.fuzz.passes, options.fuzz.external);
  if (!named) return report_error(named.error());
  named->out_dir = campaign.out_dir;
  campaign = std::move(*named);
  campaign.stop = &interrupt_stop();
  campaign.next_block = [&merged] { return (*merged)->next(); };
  tell_of_campaign(options.fuzz);
  const Result<CampaignReport> report = run_campaign(campaign);
  const StopScope to_the_end(nullptr);
  if (!report) return report_error(report.error());
  finish_progress();
  print_out(summary_of(*report, campaign, "cpu", options.fuzz.is_quiet));
  if (report->was_stopped) print_out("  Interrupted. The same command goes on.\n");
  const ExitStatus status =
      report->failing_run_count > 0 ? ExitStatus::kFinding : ExitStatus::kNothingFound;
  return worse(status, write_reports(options.fuzz, {}));
}

}  // namespace

void add_merge_command(CLI::App& app, ExitStatus& status) {
  auto [command, options] = add_subcommand<MergeOptions>(
      app, status, "merge", "makes one campaign of its shards (fuzz --shard=I/N --out=DIR)",
      run_merge);
  command.add_option("folders", options.folders, "of the shards, each with its journal")
      ->required();
  command.add_option("-o,--out", options.fuzz.campaign.out_dir, "folder of the campaign")
      ->required();
  command.add_option(
      "--encoder", options.fuzz.passes.encoder,
      "where it is exec:COMMAND or lib:FILE: the same again, as what is kept is made "
      "small again");
  command.add_option("--planner", options.fuzz.passes.planner,
                     "likewise, where it is exec:COMMAND");
  command.add_option("--backward", options.fuzz.passes.backward, "likewise");
  command.add_option("--replay", options.fuzz.passes.replay, "likewise");
  add_telling_options(command, options.fuzz);
  options.fuzz.program = &app;
}

}  // namespace interlock
