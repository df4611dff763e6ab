// Files of a campaign: one program each, after comment lines that say what it is, and how to get
// there again.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/program/program.h"
#include "fuzz/campaign/campaign.h"

namespace interlock {

// "interlock fuzz --encoder=none --seed=1 --first-run=7 --runs=1": executes run 7 again.
// `on_device`: on the device of the campaign, too.
std::string command_of_run(const CampaignOptions& options, uint64_t run_index, bool on_device);

// Where a campaign writes the file of that name: NAME.ilk in its folder. What the same campaign has
// left there, with any seed, is replaced; where any other file lies, the next of NAME.2.ilk,
// NAME.3.ilk, … is taken.
std::string path_of_file(const CampaignOptions& options, const std::string& name);

// What the file of a find holds.
std::string file_text_of(const CampaignOptions& options, const CampaignFind& find);

// Likewise for a program that is kept because of `reason`, complete sentences.
std::string file_text_of(const CampaignOptions& options, const Program& program, uint64_t run_index,
                         const std::string& reason);

}  // namespace interlock
