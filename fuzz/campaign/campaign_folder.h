// CampaignFolder: what campaigns have in the folder that they write to. Its journal tells what they
// came to; of the files it is told which were written before their time, since a campaign was
// interrupted, so that they can go when it goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal.h"

namespace interlock {

// Creates the folder that finds are written to, and those above it. Errors: it cannot be created.
Result<Success> create_out_folder(const std::string& folder);

// Who is told of what campaigns of one subject came to, in the order in which it was taken.
class Recall {
 public:
  virtual ~Recall() = default;
  // What follows is of this campaign; 0 is the one that runs now.
  virtual void begin_campaign(const JournalCampaign& campaign, size_t index) = 0;
  virtual Result<Success> take_again(const JournalBlock& block) = 0;
  virtual Result<Success> end_again() = 0;
};

class CampaignFolder {
 public:
  // Creates the folder if it is missing. Errors: it cannot be created, and those of
  // Journal::open().
  static Result<std::unique_ptr<CampaignFolder>> open(const CampaignOptions& options);

  // Tells `recall` of the campaigns with the subject of `options`, and then that campaign 0 begins.
  // A stop ends it early; then nothing may be written. Called once, before what is below.
  // Errors: the journal is damaged, or cannot be written; those of `recall`.
  Result<Success> recall(Recall& recall, Stop* stop);

  // Adds a record of this campaign to the journal. Errors: as Journal::append().
  Result<Success> append(const JournalRecord& record);

  // `is_provisional`: the campaign is interrupted, and would not have written it yet.
  Result<Success> write(const std::string& path, const std::string& text, bool is_provisional);

  // Removes what was written before its time, but for files of `reports`.
  void remove_provisional_files(const std::vector<const CampaignReport*>& reports) const;

  // The journal tells of this run of the seed again.
  Error told_twice(uint64_t run_index) const;

 private:
  CampaignFolder(std::string folder, JournalCampaign campaign, std::unique_ptr<Journal> journal);

  Result<std::optional<JournalRecord>> next_record(Stop* stop);
  Result<Success> recall_record(const JournalRecord& record, Recall& recall);

  const std::string folder_;
  const JournalCampaign campaign_;
  const std::unique_ptr<Journal> journal_;
  bool is_last_ = false;  // The last campaign that the journal names is this one.
  std::vector<JournalProvisional> provisional_;
};

}  // namespace interlock
