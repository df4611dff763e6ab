// FindKeeper: which finds of a campaign are kept. One bug makes findings of many signatures; the
// smallest find that was seen of each cause stands for all of them, and its file names them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "encoder/program/result.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/judge/cause.h"

namespace interlock {

class FindKeeper {
 public:
  // `finds` is what is kept: in the order in which the first of each was saved.
  // Requires: all outlive this.
  FindKeeper(const CampaignOptions& options, Subject& subject, std::vector<CampaignFind>& finds);

  // Takes a signature of the findings of a run; called in the order of runs, once per signature.
  // Errors: a file cannot be written. So below.
  Result<Success> take(uint64_t run_index, const std::string& signature);

  // Saves what no output ever showed, and says in each file what else has its cause.
  Result<Success> finish();

  bool has_enough() const;

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

  const CampaignOptions& options_;
  Subject& subject_;
  std::vector<CampaignFind>& finds_;
  const bool keeps_all_signatures_;
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
