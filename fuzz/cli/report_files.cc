#include "fuzz/cli/report_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/release.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/journal.h"
#include "fuzz/cli/input.h"
#include "fuzz/cli/journal_options.h"
#include "fuzz/external/opened_encoder.h"

namespace interlock {
namespace {

struct ReportForm {
  std::string_view ending;
  std::string (*text_of)(const CampaignStory& story);
};

constexpr std::array kForms = {ReportForm{".html", html_of}, ReportForm{".json", json_of},
                               ReportForm{".xml", junit_of}, ReportForm{".sarif", sarif_of}};

// Of a name that may say, too, that the file is packed.
const ReportForm* form_of(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  const auto is_it = [&](const ReportForm& form) { return has_ending(path, form.ending); };
  const auto form = std::ranges::find_if(kForms, is_it);
  return form == kForms.end() ? nullptr : &*form;
}

// The conflicts that the programs of a subject give to an encoder for one queue: nothing else is
// made again without asking what is put to the test. An encoder of others gets programs as any
// right one does.
std::optional<PosedConflicts> conflicts_of_subject(const SubjectRecord& subject) {
  const auto is_parsed = [](const std::string& words) { return words.find("--") != words.npos; };
  if (subject.journal_words.empty() || !is_parsed(subject.journal_words.front())) {
    return std::nullopt;
  }
  CLI::App app;
  FuzzOptions options;
  JournalCampaign campaign = subject.campaigns.front().campaign;
  campaign.subject = subject.subject;
  if (is_guided_campaign(campaign)) return std::nullopt;
  const bool is_external = subject.subject.find(" --encoder='") != std::string::npos ||
                           subject.subject.find(" --encoder=exec:") != std::string::npos ||
                           subject.subject.find(" --encoder=lib:") != std::string::npos;
  const bool has_others = subject.subject.find(" --planner=") != std::string::npos ||
                          subject.subject.find(" --queue-kind=") != std::string::npos ||
                          subject.subject.find(" --replay=") != std::string::npos ||
                          subject.subject.find(" --backward=") != std::string::npos;
  if (is_external && has_others) return std::nullopt;
  if (is_external) campaign.subject = "interlock fuzz --encoder=none";
  if (!parse_journal_campaign(campaign, app, options)) return std::nullopt;
  const PassNames& passes = options.passes;
  const EncoderEntry* const encoder = find_encoder(passes.encoder);
  const bool is_alone = passes.backward.empty() && passes.replay.empty() && passes.planner.empty();
  if (encoder == nullptr || !is_alone || options.campaign.generator.has_queues) return std::nullopt;
  options.campaign.encoder = encoder;
  options.campaign.seed = campaign.seed;
  options.campaign.first_run = campaign.first_run;
  return posed_conflicts(options.campaign, subject.campaigns.front().run_count);
}

// Whether `path` is right in `folder`, which the campaign makes if it is not there.
bool is_in(const std::string& folder, const std::string& path) {
  namespace fs = std::filesystem;
  if (folder.empty()) return false;
  std::error_code error;  // Where there is no folder that names are relative to.
  // With an end that has no name, so that "out" and "out/" are one folder.
  const fs::path of_folder = (fs::absolute(folder, error) / "").lexically_normal();
  const fs::path of_path = (fs::absolute(path, error).parent_path() / "").lexically_normal();
  return !error && of_folder == of_path;
}

}  // namespace

void add_report_option(CLI::App& command, const std::string& name,
                       std::vector<std::string>& paths) {
  command.add_option(
      name, paths,
      "a file that tells what is in the folder: .html for reading, .json, .xml for "
      "readers of JUnit, .sarif for code scanning, each with .gz after it if packed; "
      "any number of them");
}

Result<Success> check_report_paths(const std::vector<std::string>& paths,
                                   const std::string& folder) {
  for (const std::string& path : paths) {
    if (form_of(path) == nullptr) {
      return error_of(
          "{} is no form of report: its name ends in .html, .json, .xml or .sarif, with or without .gz.",
          in_quotes(path));
    }
    if (is_in(folder, path)) continue;
    if (auto writable = check_writable(path); !writable) return writable;
  }
  return Success{};
}

Result<CampaignStory> story_of(const std::string& folder, const CLI::App& program) {
  auto record = read_campaign_record(folder);
  if (!record) return record.error();
  CampaignStory story;
  story.folder = folder;
  story.version = std::string(release_text());
  story.record = std::move(*record);
  // Another build may make other programs of the same numbers.
  const bool is_ours = story.record.build == build_id();
  for (const SubjectRecord& subject : story.record.subjects) {
    story.posed.push_back(is_ours ? conflicts_of_subject(subject) : std::nullopt);
  }
  for (const CLI::App* command : program.get_subcommands({})) {
    story.names_pictures |= command->get_name() == "show";
  }
  judge_kept_files(story);
  return story;
}

ExitStatus write_reports(const CampaignStory& story, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const Result<Success> written = write_file(path, form_of(path)->text_of(story));
    if (!written) return report_error(written.error());
  }
  return ExitStatus::kNothingFound;
}

ExitStatus write_reports(const FuzzOptions& options, const std::optional<MeasuredRate>& rate) {
  if (options.report_paths.empty()) return ExitStatus::kNothingFound;
  auto story = story_of(options.campaign.out_dir, *options.program);
  if (!story) return report_error(story.error());
  if (rate && rate->run_count > 0) story->measured = rate;
  return write_reports(*story, options.report_paths);
}

}  // namespace interlock
