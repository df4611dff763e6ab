// The line that says how far a campaign is.
#pragma once

#include <string>

#include "fuzz/campaign/campaign.h"

namespace interlock {

// "12s", "1m05s", "2h07m", "3d04h".
std::string duration_text(double seconds);

// "2560 of 20000 programs (12%), 21500/s, 1m22s left; findings: WAR 471, RAW 20, 2 more causes;
// 212 cells, none new for 12s". A cell is a kind of hazard, a relation of ranges and two kernels.
std::string progress_line(const CampaignProgress& progress);

}  // namespace interlock
