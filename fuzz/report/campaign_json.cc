#include <nlohmann/json.hpp>

#include "fuzz/report/campaign_reports.h"

namespace interlock {
namespace {

using StoryJson = nlohmann::ordered_json;  // Keys in the order of the documentation.

StoryJson json_of_part(const CampaignPart& part) {
  const JournalCampaign& campaign = part.campaign;
  return {{"seed", campaign.seed},
          {"first_run", campaign.first_run},
          {"planned_programs",
           campaign.run_count > 0 ? StoryJson(campaign.run_count) : StoryJson(nullptr)},
          {"planned_seconds", campaign.milliseconds > 0
                                  ? StoryJson(static_cast<double>(campaign.milliseconds) / 1e3)
                                  : StoryJson(nullptr)},
          {"programs", part.run_count},
          {"programs_with_findings", part.failing_run_count},
          {"is_ended", part.is_ended}};
}

StoryJson json_of_signatures(const std::vector<SignatureCount>& signatures) {
  StoryJson list = StoryJson::array();
  for (const SignatureCount& count : signatures) {
    list.push_back({{"signature", count.signature}, {"programs", count.run_count}});
  }
  return list;
}

StoryJson json_of_file(const CampaignStory& story, const KeptFile& file) {
  StoryJson commands = StoryJson::object();
  for (const auto& [label, command] : commands_of(story, file)) commands[label] = command;
  return {{"name", file.name},       {"signature", file.signature},
          {"message", file.message}, {"notes", file.notes},
          {"again", file.command},   {"asks_again", file.again},
          {"commands", commands},    {"findings", story.verdict_of(file).headlines},
          {"text", file.text}};
}

StoryJson json_of_cause(const CampaignStory& story, const CauseRecord& cause) {
  return {{"name", cause.name},
          {"findings", cause.finding_count},
          {"signatures", json_of_signatures(cause.signatures)},
          {"file", cause.file == nullptr ? StoryJson(nullptr) : json_of_file(story, *cause.file)}};
}

StoryJson json_of_matrix(const SubjectRecord& subject, const std::optional<PosedConflicts>& posed) {
  const HazardMatrix matrix(subject.signatures, posed);
  StoryJson cells = StoryJson::array();
  for (const auto& [kernel, row] : matrix.rows()) {
    for (size_t column = 0; column < row.size(); ++column) {
      const FindingKind kind = HazardMatrix::kKinds[column / kAliasShapes.size()];
      const AliasShape shape = kAliasShapes[column % kAliasShapes.size()];
      cells.push_back({{"kind", word_of(kind)},
                       {"relation", word_of(shape)},
                       {"kernel", kernel},
                       {"findings", row[column].finding_count},
                       {"conflicts", posed ? StoryJson(row[column].posed_count) : nullptr}});
    }
  }
  return {{"conflicts_of_programs", posed ? StoryJson(posed->run_count) : StoryJson(nullptr)},
          {"cells", cells}};
}

StoryJson json_of_subject(const CampaignStory& story, size_t index) {
  const SubjectRecord& subject = story.record.subjects[index];
  StoryJson campaigns = StoryJson::array();
  for (const CampaignPart& part : subject.campaigns) campaigns.push_back(json_of_part(part));
  StoryJson causes = StoryJson::array();
  for (const CauseRecord& cause : subject.causes) causes.push_back(json_of_cause(story, cause));
  StoryJson others = StoryJson::array();
  for (const KeptFile* file : subject.others) others.push_back(json_of_file(story, *file));
  StoryJson growth = StoryJson::array();
  for (const GrowthPoint& point : subject.growth) {
    growth.push_back({point.run_count, point.signature_count});
  }
  return {{"command", subject.subject},
          {"is_ended", subject.is_ended()},
          {"programs", subject.run_count},
          {"programs_with_findings", subject.failing_run_count},
          {"programs_on_cpu", subject.cpu_run_count},
          {"device_failures", subject.device_failure_count},
          {"campaigns", campaigns},
          {"causes", causes},
          {"other_files", others},
          {"signatures", json_of_signatures(subject.signatures)},
          {"growth", growth},
          {"matrix", json_of_matrix(subject, story.posed[index])}};
}

}  // namespace

std::string json_of(const CampaignStory& story) {
  StoryJson subjects = StoryJson::array();
  for (size_t i = 0; i < story.record.subjects.size(); ++i) {
    subjects.push_back(json_of_subject(story, i));
  }
  StoryJson measured = nullptr;
  if (story.measured) {
    measured = {{"programs", story.measured->run_count}, {"seconds", story.measured->seconds}};
  }
  const StoryJson json = {{"report", "campaigns"},
                          {"subjects", subjects},
                          {"other_campaigns_files", story.record.foreign_file_count},
                          {"files_left_out", story.record.kept.left_out_count},
                          {"measured", measured}};
  return json.dump(-1, ' ', false, StoryJson::error_handler_t::replace) + "\n";
}

}  // namespace interlock
