// CampaignRecord: what the campaigns of a folder came to by now, read from their journal and the
// files beside it, while they run or later, and whoever has made them: nothing is executed. It is a
// function of those files, so shards that were merged give that of one campaign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/result.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal_text.h"
#include "fuzz/report/kept_file.h"

namespace interlock {

// One campaign of a subject; what killed and started ones add up to.
struct CampaignPart {
  JournalCampaign campaign;
  uint64_t run_count = 0;
  uint64_t failing_run_count = 0;
  uint64_t milliseconds = 0;  // Spent, of one that ends by time; else 0.
  bool is_ended = false;
};

// The findings that one fault makes.
struct CauseRecord {
  std::string name;
  uint64_t finding_count = 0;              // The runs of all its signatures, added up.
  std::vector<SignatureCount> signatures;  // The most frequent first.
  const KeptFile* file = nullptr;          // That stands for it; null: there is none by now.
};

// After so many programs so many signatures were known.
struct GrowthPoint {
  uint64_t run_count = 0;
  uint64_t signature_count = 0;
};

// What was put to the test in one way.
struct SubjectRecord {
  std::string subject;  // As subject_words().
  std::vector<CampaignPart> campaigns;
  uint64_t run_count = 0;
  uint64_t failing_run_count = 0;
  uint64_t cpu_run_count = 0;
  uint64_t device_failure_count = 0;
  std::vector<SignatureCount> signatures;  // The most frequent first.
  std::vector<GrowthPoint> growth;         // Where it grew; blocks are seen as a whole.
  std::vector<CauseRecord> causes;         // The most frequent first.
  std::vector<const KeptFile*> others;     // Kept for another reason than a finding.
  std::vector<std::string> journal_words;  // Subjects of the journal that are this one.

  bool is_ended() const;
};

// Its subjects point into `kept`: it is moved, and not copied.
struct CampaignRecord {
  std::string build;                    // Whose journal it is.
  std::vector<SubjectRecord> subjects;  // In the order of the journal.
  KeptFiles kept;
  uint64_t foreign_file_count = 0;  // Of no campaign that the journal tells of.
};

inline constexpr uint64_t kSubjectsMax = 100;
inline constexpr uint64_t kCampaignsMax = 10'000;

// Of the journal's text, which errors call `path`, and what is kept beside it. What a process that
// was killed left of a last line does not count. Errors: those of JournalReader; more subjects or
// campaigns than the limits; a stop. Cost: linear in the text, but for a logarithm.
Result<CampaignRecord> campaign_record_of(std::string_view journal, std::string_view path,
                                          KeptFiles kept);

// Of a folder. Errors: as above; there is no journal, or it or a file cannot be read.
Result<CampaignRecord> read_campaign_record(const std::string& folder);

}  // namespace interlock
