// Files of a campaign: one program each, after comment lines that say what it is, and how to get
// there again.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/program/program.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal_text.h"

namespace interlock {

// "interlock fuzz --encoder=none": what is put to the test, and how it is judged. `on_device`: on
// the device of the campaign, too.
std::string command_of_subject(const CampaignOptions& options, bool on_device);

// "interlock fuzz --encoder=none --seed=1 --first-run=7 --runs=1": executes run 7 again.
std::string command_of_run(const CampaignOptions& options, uint64_t run_index, bool on_device);

// The same of the run of a find, whose seed can be that of an earlier campaign of the folder.
std::string command_of_find(const CampaignOptions& options, const CampaignFind& find);

// How the journal of the folder names the campaign.
JournalCampaign journal_campaign(const CampaignOptions& options);

// "interlock encode --encoder='exec:./mine.py' out/crash.ilk": asks the passes for the file of the
// find again, on which one of them failed. Its `backward` statements say who writes them.
std::string command_of_failure(const CampaignOptions& options, const CampaignFind& find,
                               const std::string& path);

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
