// Files of reports on campaigns: which form each has, its name says.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/result.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/fuzz_options.h"
#include "fuzz/report/campaign_reports.h"

namespace interlock {

// Adds the option that takes them, any number of times.
void add_report_option(CLI::App& command, const std::string& name, std::vector<std::string>& paths);

// Errors: a name that ends in none of .html, .json, .xml and .sarif; what cannot be written, but in
// the folder of the campaign, which may be made later.
Result<Success> check_report_paths(const std::vector<std::string>& paths,
                                   const std::string& folder);

// What the folder tells, with everything that the forms need but the time. Errors: those of
// read_campaign_record(). `program`: with its commands, of which reports may name some.
Result<CampaignStory> story_of(const std::string& folder, const CLI::App& program);

// Writes each of the reports. Returns kNothingFound, or prints why one cannot be written and
// returns kBadInput. Requires: check_report_paths() had no error.
ExitStatus write_reports(const CampaignStory& story, const std::vector<std::string>& paths);

// Those that the options of a campaign ask for, on its folder. Likewise.
ExitStatus write_reports(const FuzzOptions& options, const std::optional<MeasuredRate>& rate);

}  // namespace interlock
