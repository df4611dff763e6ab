// FailedRuns: the programs that a campaign keeps for another reason than a finding: two methods of
// ours disagree on them, or the device failed.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/program/result.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/find_keeper.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/judge/oracles.h"

namespace interlock {

class FailedRuns {
 public:
  // Files go to `sink`. Requires: all outlive this.
  FailedRuns(const CampaignOptions& options, const Subject& subject, FileSink sink);

  // Keeps the smallest program found on which the same stage disagrees, and returns what is to be
  // said of it. `is_told`: the journal tells of the run, so a file that is there stays, and nothing
  // is shown. Errors: the file cannot be written. So below.
  Result<std::string> take(uint64_t run_index, const InternalDisagreement& disagreement,
                           bool is_told) const;

  // Adds to `device` what it did in the run, and keeps the program if it failed.
  Result<Success> take(uint64_t run_index, const RunOutcome& outcome, DeviceSummary& device,
                       bool is_told) const;

 private:
  Result<Success> write(const std::string& name, const std::string& text, bool is_told,
                        std::string& path) const;

  const CampaignOptions& options_;
  const Subject& subject_;
  const FileSink sink_;
};

}  // namespace interlock
