#include "fuzz/cli/journal_options.h"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "fuzz/campaign/campaign_files.h"
#include "fuzz/external/opened_encoder.h"
#include "fuzz/judge/pass_chain.h"

namespace interlock {
namespace {

Error external_campaign_error() {
  return Error{
      "campaigns of encoders that are not part of this build are not merged on the word of a journal, "
      "which names nothing that is executed. Give merge the same --encoder."};
}

Error guided_campaign_error() {
  return Error{
      "guided campaigns are not merged: each of their programs is made of those that came before."};
}

Result<CampaignOptions> merged_campaign(FuzzOptions& options) {
  const auto set = set_campaign(options);
  if (!set) return set.error();
  if (options.backend != "cpu") {
    return Error{"campaigns on a device are not merged: what it did is in each of them."};
  }
  options.campaign.out_dir.clear();
  return std::move(options.campaign);
}

}  // namespace

bool is_guided_campaign(const JournalCampaign& journal) {
  return (journal.subject + ' ').find(" --guided ") != std::string::npos;
}

Result<Success> parse_journal_campaign(const JournalCampaign& journal, CLI::App& app,
                                       FuzzOptions& options) {
  if (is_guided_campaign(journal)) return guided_campaign_error();
  add_fuzz_options(app, options);
  std::istringstream words(journal.subject);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  const bool is_fuzz =
      arguments.size() >= 2 && arguments[0] == "interlock" && arguments[1] == "fuzz";
  if (!is_fuzz)
    return error_of("{} is no campaign of `interlock fuzz`.", in_quotes(journal.subject));
  // No name of ours has it.
  if (journal.subject.find('\'') != std::string::npos) return external_campaign_error();
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  arguments.push_back(fmt::format("--seed={}", journal.seed));
  arguments.push_back(fmt::format("--first-run={}", journal.first_run));
  if (journal.run_count > 0) arguments.push_back(fmt::format("--runs={}", journal.run_count));
  try {
    std::vector<std::string> reversed(arguments.rbegin(),
                                      arguments.rend());  // As CLI11 wants them.
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return error_of("{} is no campaign of `interlock fuzz`: {}.", in_quotes(journal.subject),
                    error.what());
  }
  // What was parsed decides: the text has many forms.
  if (options.campaign.is_guided || !options.corpus.empty()) return guided_campaign_error();
  if (is_external_name(options.passes.encoder)) return external_campaign_error();
  return Success{};
}

Result<CampaignOptions> merged_campaign_of(const JournalCampaign& journal) {
  CLI::App app;
  FuzzOptions options;
  const auto parsed = parse_journal_campaign(journal, app, options);
  if (!parsed) return parsed.error();
  return merged_campaign(options);
}

Result<CampaignOptions> merged_campaign_of(const JournalCampaign& journal,
                                           const std::string& encoder, ExternalOption& external) {
  const Error other = error_of(
      "the shards are not of --encoder={}: they name another, or its files have changed since.",
      shell_word(encoder));
  if (!is_external_name(encoder)) {
    auto campaign = merged_campaign_of(journal);
    const bool is_named =
        campaign && campaign->encoder != nullptr && campaign->encoder->name == encoder;
    return is_named ? std::move(campaign) : Result<CampaignOptions>(other);
  }
  // What the journal names stands for nothing but itself: it is parsed with another name there.
  std::string subject = journal.subject;
  const std::string named = " --encoder=" + shell_word(encoder);
  const size_t place = subject.find(named);
  if (place == std::string::npos) return other;
  subject.replace(place, named.size(), " --encoder=none");
  constexpr std::string_view kDigest = " digest=";
  if (const size_t digest = subject.rfind(kDigest); digest != std::string::npos) {
    subject.resize(digest);
  }
  JournalCampaign neutral = journal;
  neutral.subject = subject;
  CLI::App app;
  FuzzOptions options;
  const auto parsed = parse_journal_campaign(neutral, app, options);
  if (!parsed) return parsed.error();
  options.passes.encoder = encoder;
  auto campaign = merged_campaign(options);
  if (!campaign) return campaign.error();
  if (journal_campaign(*campaign).subject != journal.subject) return other;
  external = std::move(options.external);
  campaign->encoder = &external.opened->entry;
  return campaign;
}

}  // namespace interlock
