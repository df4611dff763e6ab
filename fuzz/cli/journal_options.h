// What a journal says of a campaign, as the options of `interlock fuzz` that say the same.
#pragma once

#include <CLI/CLI.hpp>

#include "encoder/program/result.h"
#include "fuzz/campaign/journal_text.h"
#include "fuzz/cli/fuzz_options.h"

namespace interlock {

// Sets what the command line would; nothing is looked up or opened. Errors: the subject is no
// campaign of `interlock fuzz`, or is guided, or says its encoder in quotes, as none of this build
// needs.
// Requires: `app` is a new one, and outlives the use of `options`.
Result<Success> parse_journal_campaign(const JournalCampaign& journal, CLI::App& app,
                                       FuzzOptions& options);

// Why an encoder of others is not opened.
Error external_campaign_error();

// Whether its programs were made of earlier ones: then it is an error above.
bool is_guided_campaign(const JournalCampaign& journal);

}  // namespace interlock
