// What the forms have in common, and the short ones.
#include "fuzz/report/campaign_reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "encoder/program/names.h"
#include "encoder/program/stop.h"
#include "fuzz/judge/pass_chain.h"
#include "simulator/picture/picture.h"
#include "simulator/picture/svg.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/report.h"
#include "simulator/report/report_sarif.h"

namespace interlock {
namespace {

constexpr uint64_t kFindingsOfFileMax = 20;
constexpr uint64_t kBareCausesInText = 20;  // Of one subject.

// On a terminal no byte of others does anything.
std::string plain(std::string_view text) {
  const std::string quoted = in_quotes(text);
  return quoted.substr(1, quoted.size() - 2);
}

FileVerdict verdict_on_file(const KeptFile& file) {
  if (!file.program) return {"The text is no program: " + file.error, {}};
  Program program = *file.program;
  program.expectations.clear();
  const CheckReport report = check(program);
  FileVerdict verdict;
  const TextLimits limits = {.findings = kFindingsOfFileMax, .folds_advice = true};
  verdict.text = text_report(program, report, file.name, limits);
  for (const Finding& finding : report.findings) {
    if (verdict.headlines.size() == kFindingsOfFileMax) break;
    verdict.headlines.push_back(finding.headline);
  }
  if (!report.findings.empty() && program.text_order == nullptr) {
    verdict.picture = svg_of(PictureMaker(program, report).of_finding(0));
    if (verdict.picture.size() > kPictureBytesMax) verdict.picture.clear();
  }
  return verdict;
}

}  // namespace

void judge_kept_files(CampaignStory& story) {
  story.verdicts.clear();
  size_t picture_bytes = 0;
  for (const KeptFile& file : story.record.kept.files) {
    story.verdicts.push_back(is_stopped() ? FileVerdict() : verdict_on_file(file));
    std::string& picture = story.verdicts.back().picture;
    if (picture_bytes + picture.size() > kPicturesBytesMax) picture.clear();
    picture_bytes += picture.size();
  }
}

// Names are of whoever made the folder, and these lines are pasted into a shell.
std::vector<FileCommand> commands_of(const CampaignStory& story, const KeptFile& file) {
  std::vector<FileCommand> commands;
  const std::string name = shell_word("./" + file.name);
  if (file.has_witness) commands.push_back({"Replay", "interlock replay " + name});
  if (file.program) commands.push_back({"Check", "interlock check " + name});
  if (story.names_pictures && file.program) {
    commands.push_back({"Picture", "interlock show " + name});
  }
  return commands;
}

std::string state_of(const CampaignPart& part) {
  const JournalCampaign& campaign = part.campaign;
  std::string text = std::to_string(part.run_count);
  if (campaign.run_count > 0) text += fmt::format(" of {}", campaign.run_count);
  text += " programs";
  if (campaign.milliseconds > 0) {
    text +=
        fmt::format(" in {:.1f} of {:.1f} seconds", static_cast<double>(part.milliseconds) / 1e3,
                    static_cast<double>(campaign.milliseconds) / 1e3);
  }
  return text + (part.is_ended ? ", ended" : ", not at its end");
}

std::string sarif_of(const CampaignStory& story) {
  SarifLog log(story.version);
  for (const KeptFile& file : story.record.kept.files) {
    const std::string path = story.folder + "/" + file.name;
    if (!file.program) {
      log.add_error(path, file.error);
      continue;
    }
    Program program = *file.program;
    program.expectations.clear();
    const CheckReport report = check(program);
    const ExpectationOutcome outcome = judge_expectations(program, report);
    log.add(program, report, outcome, path, file.lines, false);
    // What an encoder did instead of an answer, or a device, is in no program.
    if (report.findings.empty()) log.add_failure(path, "failure", file.message + " " + file.notes);
  }
  return log.text();
}

std::string terminal_text_of(const CampaignStory& story) {
  std::string text;
  for (const SubjectRecord& subject : story.record.subjects) {
    text += plain(subject.subject) + '\n';
    for (const CampaignPart& part : subject.campaigns) {
      text += fmt::format("  seed {}: {}; {} with findings\n", part.campaign.seed, state_of(part),
                          part.failing_run_count);
    }
    uint64_t bare_count = 0;
    uint64_t left_out_count = 0;  // Findings.
    for (const CauseRecord& cause : subject.causes) {
      if (cause.file == nullptr && ++bare_count > kBareCausesInText) {
        left_out_count += cause.finding_count;
        continue;
      }
      text += fmt::format("  {}: {} finding{} of {} signature{}{}\n", plain(cause.name),
                          cause.finding_count, cause.finding_count == 1 ? "" : "s",
                          cause.signatures.size(), cause.signatures.size() == 1 ? "" : "s",
                          cause.file == nullptr
                              ? ""
                              : ", " + plain(shell_word(story.folder + "/" + cause.file->name)));
    }
    if (bare_count > kBareCausesInText) {
      text += fmt::format("  and {} more without a file, of {} finding{}\n",
                          bare_count - kBareCausesInText, left_out_count,
                          left_out_count == 1 ? "" : "s");
    }
    if (subject.causes.empty()) text += "  no findings\n";
  }
  return text;
}

}  // namespace interlock
