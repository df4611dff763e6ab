#include "fuzz/campaign/campaign_folder.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "encoder/program/error_of.h"
#include "encoder/program/hash.h"
#include "encoder/program/names.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/campaign_files.h"

namespace interlock {

CampaignFolder::CampaignFolder(std::string folder, JournalCampaign campaign,
                               std::unique_ptr<Journal> journal)
    : folder_(std::move(folder)), campaign_(std::move(campaign)), journal_(std::move(journal)) {}

Result<Success> create_out_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return Success{};
  return error_of("The folder '{}' cannot be created: {}.", folder, error.message());
}

Result<std::unique_ptr<CampaignFolder>> CampaignFolder::open(const CampaignOptions& options) {
  if (auto created = create_out_folder(options.out_dir); !created) return created.error();
  auto journal = Journal::open(options.out_dir, options.on_journal_write);
  if (!journal) return journal.error();
  remove_abandoned_files(options.out_dir);
  return std::unique_ptr<CampaignFolder>(
      new CampaignFolder(options.out_dir, journal_campaign(options), std::move(*journal)));
}

// A line can be long; what is made of it is never left in part.
Result<std::optional<JournalRecord>> CampaignFolder::next_record(Stop* stop) {
  const StopScope scope(stop);
  return journal_->next();
}

Result<Success> CampaignFolder::recall(Recall& recall, Stop* stop) {
  std::vector<JournalCampaign> campaigns = {campaign_};
  bool is_of_subject = false;
  for (;;) {
    auto record = next_record(stop);
    if (stop != nullptr && stop->is_requested()) return Success{};
    if (!record) return record.error();
    if (!*record) break;
    if (const auto* campaign = std::get_if<JournalCampaign>(&**record)) {
      is_last_ = *campaign == campaign_;
      is_of_subject = campaign->subject == campaign_.subject;
      if (!is_of_subject) continue;
      const auto known = std::ranges::find(campaigns, *campaign);
      recall.begin_campaign(*campaign, static_cast<size_t>(known - campaigns.begin()));
      if (known == campaigns.end()) campaigns.push_back(*campaign);
    } else if (is_of_subject) {
      auto taken = recall_record(**record, recall);
      if (!taken) return taken;
    }
  }
  recall.begin_campaign(campaign_, 0);
  return journal_->begin_writing(is_of_subject);
}

Result<Success> CampaignFolder::recall_record(const JournalRecord& record, Recall& recall) {
  if (const auto* block = std::get_if<JournalBlock>(&record)) return recall.take_again(*block);
  if (std::holds_alternative<JournalEnd>(record)) return recall.end_again();
  if (const auto* file = std::get_if<JournalProvisional>(&record)) provisional_.push_back(*file);
  return Success{};
}

Result<Success> CampaignFolder::append(const JournalRecord& record) {
  if (!is_last_) {
    is_last_ = true;
    auto begun = journal_->append(campaign_);
    if (!begun) return begun;
  }
  return journal_->append(record);
}

Result<Success> CampaignFolder::write(const std::string& path, const std::string& text,
                                      bool is_provisional) {
  if (is_provisional) {
    const std::string name = std::filesystem::path(path).filename().string();
    auto recorded = append(JournalProvisional{name, fnv1a(text)});
    if (!recorded) return recorded;
  }
  return write_file(path, text);
}

void CampaignFolder::remove_provisional_files(
    const std::vector<const CampaignReport*>& reports) const {
  std::set<std::string> kept;
  for (const CampaignReport* const report : reports) {
    for (const CampaignFind& find : report->finds) kept.insert(find.path);
    for (const DeviceFailure& failure : report->device.failures) kept.insert(failure.path);
  }
  for (const JournalProvisional& file : provisional_) {
    const std::string path = (std::filesystem::path(folder_) / file.name).string();
    const auto text = read_file(path);
    if (kept.contains(path) || !text || fnv1a(*text) != file.digest) continue;
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
}

Error CampaignFolder::told_twice(uint64_t run_index) const {
  return error_of("{} tells twice of run {} of a seed: it was changed.",
                  in_quotes(journal_->path()), run_index);
}

}  // namespace interlock
