// The basic idea is one page that needs nothing beside it and runs nothing: no script, no link to
// elsewhere. What is of others is text in it, by in_markup() alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "fuzz/report/campaign_reports.h"
#include "fuzz/report/html_parts.h"
#include "fuzz/report/markup.h"

namespace interlock {
namespace {

constexpr size_t kSignaturesShown = 50;
constexpr size_t kTextBytesShown = 64u << 10;
constexpr size_t kTextBytesOpen = 2048;  // Of a program that is unfolded at once.

std::string plural(uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string share_text(uint64_t part, uint64_t whole) {
  if (whole == 0) return "";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.{}f}%", percent, percent > 0 && percent < 1 ? 2 : 1);
}

// `text` in code, or in a block of it.
std::string code(std::string_view text) { return "<code>" + in_markup(text) + "</code>"; }

std::string block(std::string_view text) {
  const bool is_long = text.size() > kTextBytesShown;
  return "<pre>" + in_markup(text.substr(0, kTextBytesShown)) +
         (is_long ? "\n… the rest is in the file.</pre>" : "</pre>");
}

std::string tile(const std::string& value, const std::string& label) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", value, label);
}

std::string campaigns_text(const SubjectRecord& subject) {
  std::string text = "<ul class=\"plain\">\n";
  for (const CampaignPart& part : subject.campaigns) {
    text += fmt::format("<li>Seed {}, from program {}: {}.</li>\n", part.campaign.seed,
                        part.campaign.first_run, state_of(part));
  }
  return text + "</ul>\n";
}

std::string signatures_text(const CauseRecord& cause) {
  std::string text = fmt::format("<details><summary>{}</summary>\n<table class=\"list\">\n",
                                 plural(cause.signatures.size(), "signature"));
  const size_t shown = std::min(cause.signatures.size(), kSignaturesShown);
  for (size_t i = 0; i < shown; ++i) {
    text += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", code(cause.signatures[i].signature),
                        plural(cause.signatures[i].run_count, "program"));
  }
  text += "</table>\n";
  if (shown < cause.signatures.size()) {
    text += fmt::format("<p>and {} more</p>\n", cause.signatures.size() - shown);
  }
  return text + "</details>\n";
}

std::string commands_text(const CampaignStory& story, const KeptFile& file) {
  std::string text = "<table class=\"commands\">\n";
  const auto add = [&](const std::string& label, const std::string& command) {
    text += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", label, code(command));
  };
  for (const auto& [label, command] : commands_of(story, file)) add(label, command);
  if (!file.command.empty()) add("Find again", file.command);
  if (!file.again.empty()) add("Ask again", file.again);
  return text + "</table>\n";
}

std::string file_text(const CampaignStory& story, const KeptFile& file) {
  std::string text = fmt::format("<p>{}</p>\n", in_markup(file.message));
  if (!file.notes.empty()) text += fmt::format("<p>{}</p>\n", in_markup(file.notes));
  const FileVerdict& verdict = story.verdict_of(file);
  if (!verdict.picture.empty()) text += "<div class=\"shown\">\n" + verdict.picture + "</div>\n";
  text += block(verdict.text);
  text += commands_text(story, file);
  const bool is_short = file.text.size() <= kTextBytesOpen;
  return text + fmt::format("<details{}><summary>The program: {}</summary>\n{}</details>\n",
                            is_short ? " open=\"open\"" : "", in_markup(file.name),
                            block(file.text));
}

// Of a cause that is a kind of hazard.
std::string kind_text(const std::string& cause) {
  const auto begins = [&](std::string_view kind) { return cause.starts_with(kind); };
  if (begins("RAW")) return "reads that do not wait for the write before them; ";
  if (begins("WAR")) return "writes that do not wait for the read before them; ";
  return begins("WAW") ? "writes that do not wait for the write before them; " : "";
}

std::string cause_text(const CampaignStory& story, const SubjectRecord& subject,
                       const CauseRecord& cause) {
  const uint64_t most = subject.causes.front().finding_count;
  const double width =
      most == 0 ? 0 : 100 * static_cast<double>(cause.finding_count) / static_cast<double>(most);
  std::string text = fmt::format(
      "<article>\n<h4>{} <small>{}{}</small></h4>\n<div class=\"bar\"><i style=\"width:{:.1f}%\">"
      "</i></div>\n",
      in_markup(cause.name), kind_text(cause.name), plural(cause.finding_count, "finding"), width);
  text += cause.file != nullptr
              ? file_text(story, *cause.file)
              : "<p>No file stands for it. Campaigns keep one when they come to a better instance "
                "or to their end, and of each shape of finding a few.</p>\n";
  if (!cause.signatures.empty()) text += signatures_text(cause);
  return text + "</article>\n";
}

std::string causes_text(const CampaignStory& story, const SubjectRecord& subject) {
  if (subject.causes.empty()) {
    return fmt::format("<p class=\"good\">Nothing was found in {}.</p>\n",
                       plural(subject.run_count, "program"));
  }
  std::string text =
      "<p>One fault makes findings of many signatures. They are put together by what is to blame, "
      "and the smallest program stands for all of them. Run the commands in the folder of the "
      "campaign.</p>\n";
  uint64_t without_file_count = 0;
  for (const CauseRecord& cause : subject.causes) {
    without_file_count += cause.file == nullptr;
    const bool is_shown = cause.file != nullptr || without_file_count <= kBareCausesShown;
    if (is_shown) text += cause_text(story, subject, cause);
  }
  if (without_file_count > kBareCausesShown) {
    text +=
        fmt::format("<p>and {} more without a file</p>\n", without_file_count - kBareCausesShown);
  }
  return text;
}

std::string others_text(const CampaignStory& story, const SubjectRecord& subject) {
  if (subject.others.empty()) return "";
  std::string text = "<h3>Kept for another reason</h3>\n";
  for (const KeptFile* file : subject.others) {
    text += fmt::format("<article>\n<h4>{}</h4>\n{}</article>\n", in_markup(file->stem()),
                        file_text(story, *file));
  }
  return text;
}

std::string subject_text(const CampaignStory& story, size_t index) {
  const SubjectRecord& subject = story.record.subjects[index];
  const std::optional<PosedConflicts>& posed = story.posed[index];
  const HazardMatrix matrix(subject.signatures, posed);
  std::string text =
      fmt::format("<section>\n<h2>Put to the test: {}</h2>\n", code(subject.subject));
  text +=
      "<div class=\"tiles\">\n" + tile(std::to_string(subject.run_count), "programs judged") +
      tile(fmt::format("{} <small>{}</small>", subject.failing_run_count,
                       share_text(subject.failing_run_count, subject.run_count)),
           "of them with findings") +
      tile(std::to_string(subject.causes.size()), subject.causes.size() == 1 ? "cause" : "causes") +
      tile(std::to_string(subject.signatures.size()), "kinds of finding (signatures)") +
      "</div>\n" + campaigns_text(subject);
  text +=
      "<h3>Findings by cause</h3>\n" + causes_text(story, subject) + others_text(story, subject);
  text += "<h3>What was met, and what never</h3>\n" + matrix_html(matrix, posed);
  text += "<h3>Is there more to come?</h3>\n" + growth_html(subject);
  return text + "</section>\n";
}

std::string measured_text(const CampaignStory& story) {
  if (!story.measured || story.measured->seconds <= 0) return "";
  const MeasuredRate& rate = *story.measured;
  return fmt::format(
      "<p class=\"measured\">Measured by the process that wrote this page: {} in {:.1f} seconds, "
      "{:.0f} a second.</p>\n",
      plural(rate.run_count, "program"), rate.seconds,
      static_cast<double>(rate.run_count) / rate.seconds);
}

std::string rest_text(const CampaignRecord& record) {
  std::string text;
  if (record.kept.left_out_count > 0) {
    text +=
        fmt::format("<p>{} of the folder left out: a report takes {}, of {} MiB together.</p>\n",
                    plural(record.kept.left_out_count, "file"), kKeptFilesMax, kKeptBytesMax >> 20);
  }
  if (record.foreign_file_count > 0) {
    text += fmt::format("<p>{} in the folder of campaigns that its journal does not tell of.</p>\n",
                        plural(record.foreign_file_count, "file"));
  }
  return text;
}

}  // namespace

std::string html_of(const CampaignStory& story) {
  const CampaignRecord& record = story.record;
  size_t cause_count = 0;
  uint64_t run_count = 0;
  for (const SubjectRecord& subject : record.subjects) {
    cause_count += subject.causes.size();
    run_count += subject.run_count;
  }
  std::string text = html_head("Interlock campaigns");
  text += fmt::format(
      "<header>\n<h1>{}</h1>\n<p><code>interlock fuzz</code> made up {} for GPU command encoders, "
      "and judged exactly what came out: whether each dispatch waits for what it needs.</p>\n{}"
      "</header>\n",
      cause_count == 0
          ? "Nothing was found"
          : plural(cause_count, "cause") + (cause_count == 1 ? " was" : " were") + " found",
      plural(run_count, "program"), measured_text(story));
  for (size_t i = 0; i < record.subjects.size(); ++i) text += subject_text(story, i);
  if (record.subjects.empty()) text += "<p>The journal tells of no campaign.</p>\n";
  return text + rest_text(record) + glossary_html() +
         fmt::format("<footer>Interlock {}</footer>\n</main>\n</body>\n</html>\n",
                     in_markup(story.version));
}

}  // namespace interlock
