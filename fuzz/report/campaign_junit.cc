// As the schemas of Jenkins and of Surefire have it, which other readers follow: suites with their
// counts; of each its properties first, then its cases, each with one failure or error at most.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "fuzz/report/campaign_reports.h"
#include "fuzz/report/markup.h"

namespace interlock {
namespace {

struct SuiteCounts {
  uint64_t tests = 0;
  uint64_t failures = 0;
  uint64_t errors = 0;
};

std::string counts_text(const SuiteCounts& counts) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", counts.tests, counts.failures,
                     counts.errors);
}

std::string case_text(const SubjectRecord& subject, const std::string& name,
                      const std::string& content) {
  const std::string start = fmt::format("    <testcase name=\"{}\" classname=\"{}\"",
                                        in_markup(name), in_markup(subject.subject));
  return content.empty() ? start + "/>\n" : start + ">\n" + content + "    </testcase>\n";
}

// `element`: failure or error.
std::string fault_text(const CampaignStory& story, const KeptFile* file, const std::string& element,
                       const std::string& type, const std::string& message) {
  std::string text;
  if (file != nullptr) {
    text = file->message + "\n";
    if (!file->notes.empty()) text += file->notes + "\n";
    if (!file->command.empty()) text += "Again: " + file->command + "\n";
    for (const auto& [label, command] : commands_of(story, *file)) {
      text += label + ": " + command + "\n";
    }
    text += story.verdict_of(*file).text;
  }
  return fmt::format("      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n", element,
                     in_markup(message), in_markup(type), in_markup(text));
}

std::string message_of(const CampaignStory& story, const CauseRecord& cause) {
  std::string message =
      fmt::format("{} finding{}", cause.finding_count, cause.finding_count == 1 ? "" : "s");
  if (cause.file == nullptr) return message;
  const FileVerdict& verdict = story.verdict_of(*cause.file);
  return message + ": " +
         (verdict.headlines.empty() ? cause.file->message : verdict.headlines.front());
}

std::string suite_text(const CampaignStory& story, const SubjectRecord& subject,
                       SuiteCounts& total) {
  SuiteCounts counts;
  std::string cases;
  for (const CampaignPart& part : subject.campaigns) {
    ++counts.tests;
    cases += case_text(subject, fmt::format("seed {}: {}", part.campaign.seed, state_of(part)), "");
  }
  uint64_t without_file_count = 0;
  for (const CauseRecord& cause : subject.causes) {
    without_file_count += cause.file == nullptr;
    if (cause.file == nullptr && without_file_count > kBareCausesShown) continue;
    ++counts.tests;
    ++counts.failures;
    const std::string type = cause.file == nullptr ? cause.name : cause.file->signature;
    cases += case_text(subject, cause.name,
                       fault_text(story, cause.file, "failure", type, message_of(story, cause)));
  }
  if (without_file_count > kBareCausesShown) {
    ++counts.tests;
    ++counts.failures;
    const std::string message =
        fmt::format("and {} more without a file", without_file_count - kBareCausesShown);
    cases += case_text(subject, "more", fault_text(story, nullptr, "failure", "more", message));
  }
  for (const KeptFile* file : subject.others) {
    ++counts.tests;
    ++counts.errors;
    cases +=
        case_text(subject, file->stem(), fault_text(story, file, "error", "kept", file->message));
  }
  const auto property = [](const char* name, uint64_t value) {
    return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, value);
  };
  total.tests += counts.tests;
  total.failures += counts.failures;
  total.errors += counts.errors;
  return fmt::format("  <testsuite name=\"{}\" {} skipped=\"0\">\n    <properties>\n",
                     in_markup(subject.subject), counts_text(counts)) +
         property("programs", subject.run_count) +
         property("programs_with_findings", subject.failing_run_count) +
         property("signatures", subject.signatures.size()) + "    </properties>\n" + cases +
         "  </testsuite>\n";
}

}  // namespace

std::string junit_of(const CampaignStory& story) {
  SuiteCounts total;
  std::string suites;
  for (const SubjectRecord& subject : story.record.subjects) {
    suites += suite_text(story, subject, total);
  }
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"interlock fuzz\" {}>\n",
             counts_text(total)) +
         suites + "</testsuites>\n";
}

}  // namespace interlock
