// FindKeeper: which finds of a campaign are kept. One bug makes findings of many signatures; the
// smallest find that was seen of each cause stands for all of them, and its file names them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "encoder/program/result.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/judge/cause.h"

namespace interlock {

// Puts a file in its place.
using FileSink = std::function<Result<Success>(const std::string& path, const std::string& text)>;

class FindKeeper {
 public:
  // `finds` is what is kept: in the order in which the first of each was saved. Files go to `sink`.
  // Requires: all outlive this.
  FindKeeper(const CampaignOptions& options, Subject& subject, std::vector<CampaignFind>& finds,
             FileSink sink);

  // From here on, until the end of the recall, runs are told that were made before: nothing is
  // written or shown.
  void begin_recall() { is_recalling_ = true; }

  // What follows is of this one of the campaigns of the folder; their limits of finds are counted
  // apart. Without a call it is campaign 0.
  void begin_campaign(size_t campaign) { campaign_ = campaign; }

  // Writes what is not in its file, and shows it: a kill came between.
  Result<Success> end_recall();

  // Takes a signature of the findings of a run; called in the order of runs, once per signature.
  // Errors: a file cannot be written; what is recalled is not what the run gives. So below.
  Result<Success> take(uint64_t run_index, const std::string& signature);

  // Saves what no output ever showed, and says in each file what else has its cause.
  Result<Success> finish();

  bool has_enough() const;

  // Findings by cause, the most frequent first; with all signatures by signature. A finding whose
  // cause is not known yet is counted by its signature.
  std::vector<SignatureCount> findings() const;

  uint64_t signature_count() const { return run_counts_.size(); }

  // Whether the first find of its cause is of campaign `campaign`.
  bool is_of_campaign(size_t find_index, size_t campaign) const {
    return campaigns_of_finds_[find_index] == campaign;
  }

  // Likewise before run `next_run`, with the finds that have waited long for an instance that an
  // output shows.
  bool has_enough_with_pending(uint64_t next_run) const;

 private:
  // What is known of a cause.
  struct Group {
    Cause cause;
    std::set<std::string> signatures;
    bool is_saved = false;
    size_t index = 0;  // Of its find, if it is saved.
    uint64_t first_run = 0;
    CampaignFind pending;  // Else: the best find, which no output shows.
  };

  // Of the cause that explains every finding of this kind; null if none is known to.
  Group* group_of_kind(const std::string& signature);
  bool wants_look(const std::string& signature);
  void attribute(const std::string& signature);
  Result<Success> take_into_group(CampaignFind find);
  Result<Success> save_into_group(Group& group, CampaignFind find);
  Result<Success> save(CampaignFind find);
  Result<Success> write(CampaignFind& find) const;
  void list_signatures(const Group& group, CampaignFind& find) const;
  uint64_t find_count() const;  // Of this campaign.
  void show(const CampaignFind& find) const;

  const CampaignOptions& options_;
  Subject& subject_;
  std::vector<CampaignFind>& finds_;
  const FileSink sink_;
  const bool keeps_all_signatures_;
  bool is_recalling_ = false;
  size_t campaign_ = 0;
  std::vector<size_t> campaigns_of_finds_;
  std::map<std::string, Group> groups_;             // By name of the cause.
  std::map<std::string, std::string> cause_of_;     // By signature.
  std::map<std::string, uint64_t> run_counts_;      // By signature.
  std::map<std::string, uint64_t> tries_;           // By signature.
  std::map<std::string, uint64_t> looks_at_shape_;  // By signature without kernels.
  // With all signatures:
  std::set<std::string> saved_;                     // Signatures.
  std::map<std::string, uint64_t> finds_of_shape_;  // By signature without kernels.
  std::map<std::string, CampaignFind> pending_;     // Unobservable ones, by the same.
};

}  // namespace interlock
