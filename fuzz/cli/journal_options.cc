#include "fuzz/cli/journal_options.h"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "fuzz/external/opened_encoder.h"

namespace interlock {
namespace {

Error external_campaign_error() {
  return Error{"campaigns of encoders that are not part of this build are not merged."};
}

Error guided_campaign_error() {
  return Error{
      "guided campaigns are not merged: each of their programs is made of those that came before."};
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
  const auto set = set_campaign(options);
  if (!set) return set.error();
  if (options.backend != "cpu") {
    return Error{"campaigns on a device are not merged: what it did is in each of them."};
  }
  options.campaign.out_dir.clear();
  return std::move(options.campaign);
}

}  // namespace interlock
