// CampaignRun: one run of a campaign, and what is made of it. Everything here is a function of the
// options and the run number; the campaign decides which runs, and what is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/minimize/minimizer.h"

namespace interlock {

// What is kept of one run; most runs leave nothing.
struct RunOutcome {
  bool ran = false;
  bool ran_on_cpu = false;
  std::vector<std::string> signatures;  // Distinct, in the order of the findings.
  std::vector<InternalDisagreement> disagreements;
  bool has_hazard = false;
  DeviceReport device;
};

RunOutcome judge_run(const CampaignOptions& options, uint64_t run_index);

// The program of a run as it was judged. Requires: it has been.
Program judged_program(const CampaignOptions& options, uint64_t run_index);

// Requires: the run has a finding of this signature.
CampaignFind minimized_find(const CampaignOptions& options, uint64_t run_index,
                            const std::string& signature);

// The smallest program found on which the same stage disagrees, as it was judged.
// Requires: the draft of the run builds, and that stage disagrees on it.
struct MinimizedDisagreement {
  Program program;
  uint64_t original_dispatch_count = 0;
};
MinimizedDisagreement minimized_disagreement(const CampaignOptions& options, uint64_t run_index,
                                             OracleStage stage);

}  // namespace interlock
