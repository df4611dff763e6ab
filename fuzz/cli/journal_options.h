// What a journal says of a campaign, as the options of `interlock fuzz` that say the same.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "encoder/program/result.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal_text.h"
#include "fuzz/cli/fuzz_options.h"
#include "fuzz/cli/pass_options.h"

namespace interlock {

// Sets what the command line would; nothing is looked up or opened. A journal can be anybody's, so
// it must not say what is executed or read. Errors: the subject is no campaign of `interlock fuzz`,
// or is guided, or is of a pass that is not part of this build.
// Requires: `app` is a new one, and outlives the use of `options`.
Result<Success> parse_journal_campaign(const JournalCampaign& journal, CLI::App& app,
                                       FuzzOptions& options);

// The campaign that a journal names, to be merged, without a folder. Errors: those above; a pass
// that is not there; options that are no campaign; one on a device.
Result<CampaignOptions> merged_campaign_of(const JournalCampaign& journal);

// As merged_campaign_of(), of passes that are not part of this build: whoever merges names them,
// and they are opened for `external`; a name that is empty says nothing. Errors: those; they are
// not the ones of the journal, or have changed since. Requires: `external` outlives the campaign.
Result<CampaignOptions> merged_campaign_of(const JournalCampaign& journal, const PassNames& named,
                                           ExternalOption& external);

// Whether its programs were made of earlier ones, by the words of this build: then it is an error
// above.
bool is_guided_campaign(const JournalCampaign& journal);

}  // namespace interlock
