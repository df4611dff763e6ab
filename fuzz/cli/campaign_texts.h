// What `interlock fuzz` says of a campaign: of each find, at its end, and how to go on with it.
#pragma once

#include <string>

#include "fuzz/campaign/campaign.h"

namespace interlock {

// A line of a find as it is saved, and the command that gives it again. `is_verbose`: and its file.
std::string text_of(const CampaignFind& find, const CampaignOptions& campaign, bool is_verbose);

// Likewise of a program that the device failed on.
std::string text_of(const DeviceFailure& failure, const CampaignOptions& campaign);

// What the journal of the folder says before the first run.
std::string text_of_recall(const CampaignProgress& progress, const CampaignOptions& campaign);

// What came of it, and which commands show the first find. `backend`: its name. `is_quiet`: the
// first line alone.
std::string summary_of(const CampaignReport& report, const CampaignOptions& campaign,
                       const std::string& backend, bool is_quiet);

// The command that goes on with an interrupted campaign: the same if it has a journal, else one for
// the runs that are left. Requires: runs are left.
std::string command_that_goes_on(const CampaignReport& report, const CampaignOptions& campaign,
                                 double seconds_passed);

}  // namespace interlock
